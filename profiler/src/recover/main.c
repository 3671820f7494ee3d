/* iolens-recover: makes logs from the spools of processes that ended without writing a log. */
#include <grp.h>
#include <stdio.h>
#include <stdlib.h>

#include "../runtime/context.h"
#include "../tables/process_table.h"
#include "recover.h"

/* The user whose rights are used to write a log. */

/* If root recovers a spool, continues with the rights of the spool's owner. That user then owns the log, and
 * the spool cannot name a place that only root may write to. Returns false, after a message on standard
 * error, if that fails. */
static bool owner_become(const char *spool)
{
    struct stat info;
    if (geteuid() != 0 || lstat(spool, &info) != 0 || info.st_uid == 0)
        return true;
    if (setgroups(0, NULL) == 0 && setgid(info.st_gid) == 0 && setuid(info.st_uid) == 0)
        return true;
    iolens_say("cannot take the rights of user %u, who owns %s: %s; run the command as that user",
               (unsigned)info.st_uid, spool, strerror(errno));
    return false;
}

/* The documentation of the tables of private regions, made from their rows. */

static const char INTRODUCTION[] = "# The tables that the profiler adds to a Darshan log (private regions)\n"
                                   "\n"
                                   "Printed by `iolens-recover tables` from the rows in `src/tables.def`; "
                                   "[LOG.md](LOG.md) has the format. *Merged* is\n"
                                   "what a row of rank -1 holds, which stands for several ranks. *Names* are "
                                   "replaced when a log is anonymized, *words*\n"
                                   "stay.\n";

static void describe_column(const struct column *column)
{
    const char *merge = column_merge_name(column->merge), *text = column_text_name(column->text);
    printf("| `%s` | `%s` | %s%s%s | %s | %s |\n", column->name, column->dtype, column->unit,
           text ? "a " : "", text ? text : "", merge ? merge : "", column->meaning);
}

/* Prints the text of TABLES.md in Markdown. Returns an exit code. */
static int describe_tables(void)
{
    fputs(INTRODUCTION, stdout);
    for (int t = 0; t < TABLE_COUNT; t++) {
        const struct process_table *type = process_tables[t];
        printf("\n## `%s`\n\n%s.\n", type->name, type->meaning);
        if (type->column_count > 0)
            fputs("\n| column | dtype | unit | merged | meaning |\n|---|---|---|---|---|\n", stdout);
        for (size_t i = 0; i < type->column_count; i++)
            describe_column(&type->columns[i]);
    }
    return ferror(stdout) != 0;
}

static const char USAGE[] =
    "usage: iolens-recover list SPOOL…\n"
    "       iolens-recover tables\n"
    "       iolens-recover merge [-o FOLDER] [-w WHY] [-s] SPOOL…\n"
    "\n"
    "list prints one line of JSON for each file: which spool it is, or why it is not a spool. merge makes\n"
    "one log of the spools of one job, with the rights of their owner, and prints its name; before it come\n"
    "the names of damaged spools that were left out, each ended by a zero byte. The spools stay.\n"
    "`iolens recover` finds spools, tells which have ended, and calls this program.\n"
    "tables prints what the tables of a log's private regions hold.\n"
    "A SPOOL of - stands for the names on standard input, each ended by a zero byte: a command line has\n"
    "room for some ten thousand.\n"
    "  -o FOLDER  write the log there, not where the job would have\n"
    "  -w WHY     what happened, as part of a sentence: \"mpirun was killed by signal 9\"\n"
    "  -s         a snapshot: the job still runs\n";

/* Lists the folder to which the process would have written its log. */
static void list_folder(struct buffer *line, const struct spool_header *header)
{
    const char *name = load_text(header, header->settings.logfile);
    const char *slash = strrchr(name, '/');
    char folder[PATH_BYTES];
    snprintf(folder, sizeof folder, "%.*s", slash > name ? (int)(slash - name) : 1, slash ? name : "");
    buffer_format(line, ", \"folder\": ");
    buffer_json(line, slash ? folder : load_text(header, header->settings.logpath));
}

static void list_one(const struct spool_header *header, const char *path)
{
    struct buffer line = {0};
    struct stat info = {0};
    stat(path, &info);
    buffer_format(&line, "{\"spool\": ");
    buffer_json(&line, path);
    buffer_format(&line, ", \"host\": ");
    buffer_json(&line, header->identity.host);
    buffer_format(&line, ", \"program\": ");
    buffer_json(&line, header->identity.program);
    buffer_format(&line, ", \"boot\": ");
    buffer_json(&line, header->process.boot);
    buffer_format(&line, ", \"namespace\": %llu, \"pid\": %lld, \"start_ticks\": %lld",
                  (unsigned long long)header->process.namespace, (long long)header->process.pid,
                  (long long)header->process.start_ticks);
    buffer_format(&line, ", \"job\": \"%lld-%lld-", (long long)header->job.pid,
                  (long long)header->job.start_ns);
    buffer_format(&line, "\", \"job_host\": ");
    buffer_json(&line, header->job.host);
    buffer_format(&line, ", \"jobid\": %lld, \"rank\": %d, \"ranks\": %d, \"start\": %.3f, \"bytes\": %lld",
                  (long long)header->jobid, header->rank, header->ranks,
                  (double)clock_start_ns(&header->clock) * 1e-9, (long long)info.st_size);
    buffer_format(&line,
                  ", \"overflow\": %s, \"replaced\": %s, \"log\": ", header->overflow ? "true" : "false",
                  header->replaced ? "true" : "false");
    buffer_json(&line, header->log);
    buffer_format(&line, ", \"run\": ");
    buffer_json(&line, load_text(header, header->settings.run));
    list_folder(&line, header);
    buffer_format(&line, "}\n");
    fwrite(line.data, 1, line.used, stdout);
    buffer_free(&line);
}

/* Every version of the spool has the process's number at the same place. If the header is damaged, the
 * process is unknown. */
static void list_unusable(const struct spool_header *header, const char *path, const char *fault)
{
    struct buffer line = {0};
    const struct spool_process *process = &header->process;
    bool known = memcmp(header->magic, SPOOL_MAGIC, sizeof header->magic) == 0 &&
                 memchr(process->boot, '\0', sizeof process->boot);
    buffer_format(&line, "{\"spool\": ");
    buffer_json(&line, path);
    buffer_format(&line, ", \"unusable\": ");
    buffer_json(&line, fault);
    buffer_format(&line, ", \"boot\": ");
    buffer_json(&line, known ? process->boot : "");
    buffer_format(&line, ", \"namespace\": %llu, \"pid\": %lld, \"start_ticks\": %lld}\n",
                  known ? (unsigned long long)process->namespace : 0, known ? (long long)process->pid : 0,
                  known ? (long long)process->start_ticks : 0);
    fwrite(line.data, 1, line.used, stdout);
    buffer_free(&line);
}

/* Names of the spools that a command line gives. */
struct names {
    char **path;
    int count;
};

/* Returns the names on the command line; if "-" stands there instead, the names on standard input. */
static struct names names_of(char **words, int count)
{
    struct names names = {words, count};
    if (count != 1 || strcmp(words[0], "-") != 0)
        return names;
    names = (struct names){NULL, 0};
    char *name = NULL;
    for (size_t room = 0; getdelim(&name, &room, '\0', stdin) > 0; room = 0) {
        char **more = realloc(names.path, (size_t)(names.count + 1) * sizeof *more);
        if (!more) {
            iolens_say("there is no memory for the names of %d spools", names.count);
            exit(1);
        }
        names.path = more;
        names.path[names.count++] = name;
        name = NULL;
    }
    free(name);
    return names;
}

static int list(struct names spools)
{
    for (int i = 0; i < spools.count; i++) {
        struct spool_header header;
        const char *fault = load_fault(spools.path[i], &header);
        if (fault)
            list_unusable(&header, spools.path[i], fault);
        else
            list_one(&header, spools.path[i]);
    }
    return 0;
}

static int usage(void)
{
    fputs(USAGE, stderr);
    return 2;
}

int main(int argc, char **argv)
{
    struct merge_options options = {0};
    int option;
    say_start();
    if (argc > 1 && strcmp(argv[1], "--help") == 0)
        return fputs(USAGE, stdout) < 0;
    if (argc == 2 && strcmp(argv[1], "tables") == 0)
        return describe_tables();
    if (argc < 3)
        return usage();
    if (strcmp(argv[1], "list") == 0)
        return list(names_of(argv + 2, argc - 2));
    if (strcmp(argv[1], "merge") != 0)
        return usage();
    optind = 2;
    while ((option = getopt(argc, argv, "o:w:s")) != -1) {
        if (option == '?')
            return usage();
        if (option == 'o')
            options.folder = optarg;
        else if (option == 'w')
            options.why = optarg;
        else
            options.snapshot = true;
    }
    struct names spools = names_of(argv + optind, argc - optind);
    if (spools.count == 0)
        return usage();
    if (!owner_become(spools.path[0]))
        return 1;
    return merge_spools(spools.path, spools.count, &options);
}
