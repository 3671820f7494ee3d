#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include "../lifecycle/lifecycle.h"
#include "../ranks/serial.h"
#include "../runtime/context.h"
#include "recover.h"

/* The sentence in a log that says that it was recovered, and which parts are missing. */

struct reason {
    const char *why; /* Cause of the job's end, or NULL. */
    bool snapshot;   /* True if the job still runs. */
    bool replaced;   /* True for a process without MPI that became another program by exec. */
    int ranks;       /* Number of ranks of the job; 0 for a process without MPI. */
    const int *found;
    int found_count;      /* Number of ranks with a spool, whose numbers are listed in ascending order. */
    int overflowed_count; /* Number of ranks whose spools ran out of room. */
};

enum { MOST_RANGES = 12 };

static size_t add(char *text, size_t size, size_t used, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

static size_t add(char *text, size_t size, size_t used, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    int length = vsnprintf(text + used, size - used, format, list);
    va_end(list);
    used += length > 0 ? (size_t)length : 0;
    return used < size ? used : size - 1;
}

/* Adds a text such as "; nothing is left of ranks 2, 5-7". In a snapshot of a running job the text is "not
 * seen here are ranks …", because these ranks may be on other nodes. */
static size_t add_missing(const struct reason *reason, char *text, size_t size, size_t used)
{
    int next = 0, ranges = 0;
    bool one = reason->ranks - reason->found_count == 1;
    const char *words = !reason->snapshot ? "nothing is left of"
                        : one             ? "not seen here is"
                                          : "not seen here are";
    for (int i = 0; i <= reason->found_count; i++) {
        int found = i < reason->found_count ? reason->found[i] : reason->ranks;
        if (found > next && ranges++ < MOST_RANGES) {
            used = ranges == 1 ? add(text, size, used, "; %s rank%s %d", words, one ? "" : "s", next)
                               : add(text, size, used, ", %d", next);
            if (found - 1 > next)
                used = add(text, size, used, "-%d", found - 1);
        }
        next = found + 1;
    }
    return ranges > MOST_RANGES ? add(text, size, used, " and others") : used;
}

static void reason_write(const struct reason *reason, char *text, size_t size)
{
    size_t used = 0;
    const char *what = reason->ranks > 0 ? "job" : "process";
    if (reason->replaced)
        used = add(text, size, used, "The process became another program (exec) without writing its log");
    else if (reason->snapshot)
        used = add(text, size, used, "A snapshot while the %s was running", what);
    else
        used = add(text, size, used, "The %s ended without writing its log", what);
    if (reason->why && !reason->replaced)
        used = add(text, size, used, " (%s)", reason->why);
    used = add(text, size, used, "; this one was made from the records that ");
    if (reason->ranks > 0)
        used = add(text, size, used, "%d of %d ranks kept", reason->found_count, reason->ranks);
    else
        used = add(text, size, used, "it kept");
    if (reason->ranks > 0)
        used = add_missing(reason, text, size, used);
    if (reason->overflowed_count > 0)
        used =
            add(text, size, used,
                "; the spool folder ran out of room for records of %d process(es), so that files used later "
                "are missing: IOLENS_SPOOL names a folder with more room",
                reason->overflowed_count);
    add(text, size, used, ".");
}

/* A rank of the job, with the few values of its spool's header that are needed to combine the ranks. Whole
 * headers would slow down the start of every process of a large job. `path` is NULL for a rank 0 whose spool
 * is missing. */
struct part {
    const char *path;
    struct spool_job job;
    int rank, ranks;
    uint64_t beat_ns;
    bool overflowed, replaced;
};

/* Exit codes of the processes of the ranks. A rank that loses the hub ends with 1. */
enum { LOG_WRITTEN, LOG_NOT_WRITTEN = 2, SPOOL_UNUSABLE };

struct merging {
    struct part *part;
    int count;
    const struct merge_options *options;
    char reason[1024];
};

static int compare_parts(const void *a, const void *b)
{
    const struct part *left = a, *right = b;
    return left->rank != right->rank ? (left->rank > right->rank) - (left->rank < right->rank)
                                     : (left->beat_ns < right->beat_ns) - (left->beat_ns > right->beat_ns);
}

static bool same_job(const struct spool_job *a, const struct spool_job *b)
{
    return a->pid == b->pid && a->start_ns == b->start_ns && strncmp(a->host, b->host, sizeof a->host) == 0;
}

/* Removes a damaged part, and prints its name for the caller, who then keeps the spool. Returns true if the
 * spool of another rank is left. */
static bool leave_out(struct merging *merge, int index)
{
    const char *path = merge->part[index].path;
    merge->count--;
    memmove(merge->part + index, merge->part + index + 1,
            (size_t)(merge->count - index) * sizeof *merge->part);
    bool others = merge->count > 0 && merge->part[merge->count - 1].path;
    iolens_say("the spool %s is damaged; %s", path,
               others ? "the log is made without it" : "no other is left, so no log was made");
    fwrite(path, 1, strlen(path) + 1, stdout);
    return others;
}

/* Returns the number of ranks that most of the spools name, or -1 if no number is named by more than half of
 * them. The first loop is the majority vote of Boyer and Moore. */
static int agreed_ranks(const struct merging *merge)
{
    int candidate = 0, votes = 0, named = 0;
    for (int i = 0; i < merge->count; i++) {
        candidate = votes == 0 ? merge->part[i].ranks : candidate;
        votes += merge->part[i].ranks == candidate ? 1 : -1;
    }
    for (int i = 0; i < merge->count; i++)
        named += merge->part[i].ranks == candidate;
    return 2 * named > merge->count ? candidate : -1;
}

static void refuse_to_mix(const char *path, const char *other)
{
    iolens_say(
        "the spools %s and %s belong to different jobs, so no log was made; give the spools of one job", path,
        other);
}

/* Leaves out the spools whose number of ranks is damaged. Returns false if no number can be trusted. */
static bool agree(struct merging *merge)
{
    int ranks = agreed_ranks(merge);
    for (int i = merge->count - 1; i >= 0; i--) {
        if (merge->part[i].ranks == ranks)
            continue;
        if (ranks < 0) {
            refuse_to_mix(merge->part[0].path, merge->part[i].path);
            return false;
        }
        leave_out(merge, i);
    }
    return true;
}

/* Collects the usable spools in order of rank, one per rank. Returns false if there is none, or if they
 * belong to several jobs. */
static bool collect(struct merging *merge, char *const *paths, int count)
{
    for (int i = 0; i < count; i++) {
        struct part *part = &merge->part[merge->count];
        struct spool_header header;
        if (!load_header(paths[i], &header))
            continue;
        *part = (struct part){.path = paths[i],
                              .job = header.job,
                              .rank = header.rank,
                              .ranks = header.ranks,
                              .beat_ns = header.beat_ns,
                              .overflowed = header.overflow,
                              .replaced = header.replaced};
        if (!same_job(&part->job, &merge->part[0].job)) {
            refuse_to_mix(merge->part[0].path, paths[i]);
            return false;
        }
        merge->count++;
    }
    if (!agree(merge))
        return false;
    qsort(merge->part, (size_t)merge->count, sizeof *merge->part, compare_parts);
    int kept = 0;
    for (int i = 0; i < merge->count; i++)
        if (kept == 0 || merge->part[i].rank != merge->part[kept - 1].rank)
            merge->part[kept++] = merge->part[i];
    merge->count = kept;
    return kept > 0;
}

/* Adds a process that acts as rank 0, which leads the collective operations, if rank 0 left no spool. */
static void add_stand_in(struct merging *merge)
{
    if (merge->part[0].ranks == 0 || merge->part[0].rank == 0)
        return;
    memmove(merge->part + 1, merge->part, (size_t)merge->count * sizeof *merge->part);
    merge->part[0].path = NULL;
    merge->part[0].rank = 0;
    merge->count++;
}

/* Returns true for the spool of a program that its process replaced by another one (exec). The log of an MPI
 * job covers all its ranks, whatever happened to one of them. */
static bool is_earlier_program(const struct part *part) { return part->replaced && part->ranks == 0; }

static void explain(struct merging *merge)
{
    struct reason reason = {.why = merge->options->why,
                            .snapshot = merge->options->snapshot,
                            .replaced = is_earlier_program(&merge->part[0]),
                            .ranks = merge->part[0].ranks};
    int *found = calloc((size_t)merge->count, sizeof *found);
    for (int i = 0; found && i < merge->count; i++) {
        if (!merge->part[i].path)
            continue;
        found[reason.found_count++] = merge->part[i].rank;
        reason.overflowed_count += merge->part[i].overflowed;
    }
    reason.found = found;
    reason_write(&reason, merge->reason, sizeof merge->reason);
    free(found);
}

/* Changes the requested name of the log, because the program that this process became by exec writes its own
 * log under that name. */
static void name_apart(const struct spool_header *header)
{
    static char name[PATH_BYTES];
    const char *asked = iolens.settings.logfile;
    if (!asked)
        return;
    snprintf(name, sizeof name, "%s-%lld-%lld", asked, (long long)header->process.pid,
             (long long)clock_start_ns(&header->clock));
    iolens.settings.logfile = name;
}

/* Loads the spool of one rank and writes its part of the log, in a process of its own; returns the exit code.
 */
static int play(const struct merging *merge, int index, int socket)
{
    const struct part *part = &merge->part[index];
    char log[PATH_BYTES];
    struct spool_header header;
    iolens.lost = merge->reason;
    if (!load_header(part->path ? part->path : merge->part[index + 1].path, &header))
        return SPOOL_UNUSABLE;
    if (!part->path)
        load_stand_in(&header);
    else if (!load_spool(part->path, merge->options->snapshot))
        return SPOOL_UNUSABLE;
    if (is_earlier_program(part))
        name_apart(&header);
    if (merge->options->folder) {
        iolens.settings.logpath = merge->options->folder;
        iolens.settings.logfile = NULL;
        iolens.settings.log_by_date = "0";
        iolens.settings.log_tree = "0";
    }
    bool alone = part->ranks == 0;
    int rank = alone ? 0 : part->rank;
    const struct iolens_transport *transport =
        alone ? &serial_transport : hub_join(socket, rank, part->ranks, header.mpi_version);
    iolens.transport = transport;
    if (!finish_log(transport, log))
        return LOG_NOT_WRITTEN;
    if (rank == 0)
        printf("%s\n", log);
    return LOG_WRITTEN;
}

/* Closes the sockets of the other ranks, which this process inherited. As long as it has them open, the other
 * ranks cannot see that the hub closed its ends. */
static void close_others(const int *sockets, int count)
{
    if (count > 0 && syscall(SYS_close_range, sockets[0], sockets[count - 1], 0) == 0)
        return;
    for (int i = 0; i < count; i++)
        close(sockets[i]);
}

/* Raises the limit of open files to what the system allows: the hub has a socket for each rank. */
static void allow_sockets(void)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0)
        return;
    limit.rlim_cur = limit.rlim_max;
    setrlimit(RLIMIT_NOFILE, &limit);
}

static pid_t start_rank(const struct merging *merge, int index, int *sockets)
{
    int pair[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0)
        return -1;
    pid_t pid = fork();
    if (pid == 0) {
        close(pair[0]);
        close_others(sockets, index);
        exit(play(merge, index, pair[1]));
    }
    close(pair[1]);
    sockets[index] = pair[0];
    return pid;
}

/* Waits for the ranks. Returns the worst exit code; if a rank crashed or could not load its spool, `culprit`
 * receives the index of its damaged part. To the hub, rank 0 seems to have ended well in either case. */
static int reap(const pid_t *pids, int count, int *culprit)
{
    int worst = 0;
    for (int i = 0; i < count; i++) {
        int status;
        if (pids[i] <= 0 || waitpid(pids[i], &status, 0) != pids[i])
            continue;
        int code = WIFEXITED(status) ? WEXITSTATUS(status) : SPOOL_UNUSABLE;
        if (code == SPOOL_UNUSABLE && *culprit < 0)
            *culprit = i;
        worst = code > worst ? code : worst;
    }
    return worst;
}

/* Runs all ranks at once. Returns 0, or the worst exit code. `culprit` receives the index of a damaged part
 * that must be left out, or -1. */
static int run(const struct merging *merge, int *culprit)
{
    size_t count = (size_t)merge->count;
    int *sockets = calloc(count, sizeof *sockets), *ranks = calloc(count, sizeof *ranks), started = 0;
    pid_t *pids = calloc(count, sizeof *pids);
    *culprit = -1;
    fflush(stdout);
    allow_sockets();
    while (sockets && ranks && pids && started < merge->count) {
        ranks[started] = merge->part[started].rank;
        pids[started] = start_rank(merge, started, sockets);
        if (pids[started] <= 0) {
            iolens_say("a log of %d ranks needs as many processes and open files at once, and number %d was "
                       "refused: %s; raise `ulimit -u` and `ulimit -n`, or run this on another node",
                       merge->count, started, strerror(errno));
            break;
        }
        started++;
    }
    if (started == merge->count && merge->part[0].ranks > 0)
        *culprit = hub_serve(sockets, ranks, merge->count, merge->part[0].ranks);
    for (int i = 0; i < started; i++)
        close(sockets[i]);
    int worst = pids ? reap(pids, started, culprit) : 1;
    free(sockets);
    free(ranks);
    free(pids);
    return started == merge->count ? worst : 1;
}

int merge_spools(char *const *paths, int count, const struct merge_options *options)
{
    struct merging merge = {.part = calloc((size_t)count + 2, sizeof *merge.part), .options = options};
    int result = 1, culprit = 0;
    bool usable = merge.part && collect(&merge, paths, count);
    while (usable && culprit >= 0) {
        add_stand_in(&merge);
        explain(&merge);
        result = run(&merge, &culprit);
        if (culprit >= 0)
            usable = merge.part[culprit].path && leave_out(&merge, culprit);
    }
    free(merge.part);
    return result != 0;
}
