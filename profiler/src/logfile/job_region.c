#include <stdio.h>

#include "../files/filter.h"
#include "../files/registry.h"
#include "../runtime/context.h"
#include "../tables/process_table.h"

enum { NANO = 1000000000, NAME_BYTES = HOST_BYTES, MOST_PROGRAMS = 64 };

/* Names of all ranks, NAME_BYTES each; only on rank 0. */
struct names {
    struct buffer all;
    int ranks;
};

static void add_text(struct buffer *out, const char *name, const char *value)
{
    buffer_format(out, "\"%s\": ", name);
    if (value)
        buffer_json(out, value);
    else
        buffer_put(out, "null", 4);
    buffer_put(out, ", ", 2);
}

/* Adds a JSON object; `json` is empty if there was no memory to read the object. */
static void add_object(struct buffer *out, const char *name, const char *json)
{
    buffer_format(out, "\"%s\": ", name);
    buffer_put(out, *json ? json : "{}", *json ? strlen(json) : 2);
}

/* Adds two lists: `list`, the first `most` different names in order of their first rank; and `each`, for each
 * rank an index into `list`, or -1. */
static void add_names(struct buffer *out, const char *list, const char *each, const struct names *names,
                      int most)
{
    const char(*name)[NAME_BYTES] = (const char(*)[NAME_BYTES])names->all.data;
    struct buffer index = {0};
    int *first = buffer_add(&index, (size_t)names->ranks * 2 * sizeof(int)),
        *place = first ? first + names->ranks : NULL;
    int count = 0;
    buffer_format(out, "\"%s\": [", list);
    for (int rank = 0; first && rank < names->ranks; rank++) {
        bool again = rank > 0 && strcmp(name[rank], name[rank - 1]) == 0;
        int known = again && place[rank - 1] >= 0 ? place[rank - 1] : 0;
        while (known < count && strcmp(name[first[known]], name[rank]) != 0)
            known++;
        place[rank] = known < most ? known : -1;
        if (known < count || known == most)
            continue;
        first[count++] = rank;
        buffer_format(out, "%s", known ? ", " : "");
        buffer_json(out, name[rank]);
    }
    buffer_format(out, "], \"%s\": [", each);
    for (int rank = 0; first && rank < names->ranks; rank++)
        buffer_format(out, "%s%d", rank ? ", " : "", place[rank]);
    buffer_format(out, "], ");
    out->failed |= index.failed;
    buffer_free(&index);
}

/* Adds rank 0's process number, its ancestors, and one moment by two clocks. They connect this log with other
 * logs. */
static void add_origin(struct buffer *out)
{
    const struct origin *origin = &iolens.origin;
    const struct timespec *begin = &iolens.clock.realtime;
    buffer_format(out, "\"pid\": %lld, \"ancestors\": [", (long long)origin->pid);
    for (int i = 0; i < ANCESTORS && origin->ancestors[i] > 0; i++)
        buffer_format(out, "%s%lld", i ? ", " : "", (long long)origin->ancestors[i]);
    buffer_format(out, "], \"begin\": {\"realtime_ns\": %lld, \"monotonic_ns\": %lld}, ",
                  (long long)begin->tv_sec * NANO + begin->tv_nsec, (long long)iolens.clock.base_ns);
}

/* Adds the lines of `text` as a list. */
static void add_compilers(struct buffer *out, const char *text)
{
    char line[COMPILER_BYTES];
    const char *comma = "";
    buffer_format(out, "\"compiler\": [");
    for (; *text; text += strcspn(text, "\n") + 1) {
        snprintf(line, sizeof line, "%.*s", (int)strcspn(text, "\n"), text);
        buffer_format(out, "%s", comma);
        buffer_json(out, line);
        comma = ", ";
    }
    buffer_format(out, "], ");
}

static void add_processor(struct buffer *out, const struct processor *processor)
{
    buffer_format(out, "\"processor\": {");
    add_text(out, "name", *processor->name ? processor->name : NULL);
    buffer_format(out, "\"peak\": %lld}, ", (long long)processor->peak);
}

/* Returns the number of ranks on which each module lacks something: there, whole files were left out. */
static int64_t ranks_without_files(void)
{
    int64_t least = iolens_registry.ranks_partial[0];
    for (int m = 1; m < MODULE_COUNT; m++)
        if (iolens_registry.ranks_partial[m] < least)
            least = iolens_registry.ranks_partial[m];
    return least;
}

/* Adds what modules could not record, and for files that no module recorded one sentence, which does not name
 * modules that the program never used. A recovered log does not know if memory or the spool was full. */
static const char *add_modules_without_room(struct buffer *out, const char *comma)
{
    int64_t without_files = ranks_without_files();
    if (without_files > 0) {
        buffer_format(
            out, "%s\"Some files are missing on %lld rank(s), because there was no room for them in %s\"",
            comma, (long long)without_files,
            iolens.lost ? "the spool or in memory." : "memory. Raise IOLENS_MEMORY.");
        comma = ", ";
    }
    for (int m = 0; m < MODULE_COUNT; m++) {
        const char *limit = iolens_filter.most_records[m] > 0 ? "MAX_RECORDS" : modules[m]->limit;
        int64_t ranks = iolens_registry.ranks_partial[m];
        if (ranks <= without_files)
            continue;
        buffer_format(out,
                      "%s\"The %s module ran out of room on %lld rank(s), and later activity is missing.",
                      comma, modules[m]->name, (long long)ranks);
        if (!iolens.lost || limit)
            buffer_format(out, " Raise %s%s.", limit ? limit : "",
                          limit ? " or IOLENS_MEMORY" : "IOLENS_MEMORY");
        buffer_format(out, "\"");
        comma = ", ";
    }
    return comma;
}

static void add_partial(struct buffer *out)
{
    const int64_t *partial = iolens_registry.ranks_partial;
    const char *comma = "";
    buffer_format(out, "\"partial\": [");
    const char *const ends[] = {iolens.lost, iolens.closed};
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        if (!ends[i])
            continue;
        buffer_format(out, "%s", comma);
        buffer_json(out, ends[i]);
        comma = ", ";
    }
    if (partial[RANKS_WITHOUT_MEMORY]) {
        buffer_format(out,
                      "%s\"%lld rank(s) had too little memory to write their records, and are missing from "
                      "all tables.\"",
                      comma, (long long)partial[RANKS_WITHOUT_MEMORY]);
        comma = ", ";
    }
    comma = add_modules_without_room(out, comma);
    for (int t = 0; t < TABLE_COUNT; t++) {
        const char *lacks = table_left_out(t);
        if (!lacks)
            continue;
        buffer_format(out, "%s", comma);
        buffer_json(out, lacks);
        comma = ", ";
    }
    buffer_format(out, "], ");
}

/* Adds the sentence about a log that a rank writes after the log of its job. Returns what must stand before
 * the next sentence. */
static const char *add_finalized(struct buffer *out)
{
    const struct finalized *finalized = &iolens.finalized;
    if (finalized->ranks == 0)
        return "";
    buffer_format(
        out, "\"This log holds what rank %d of %d did after MPI_Finalize; the log of the job ends there.\"",
        (int)finalized->rank, (int)finalized->ranks);
    return ", ";
}

static void add_remarks(struct buffer *out)
{
    buffer_format(out, "\"remarks\": [");
    const char *comma = add_finalized(out);
    for (int t = 0; t < TABLE_COUNT; t++) {
        const char *remark = process_tables[t]->remarks.remark ? process_tables[t]->remarks.remark() : NULL;
        if (!remark)
            continue;
        buffer_format(out, "%s", comma);
        buffer_json(out, remark);
        comma = ", ";
    }
    buffer_format(out, "], ");
}

static void count(int rank)
{
    (void)rank;
    for (int m = 0; m < MODULE_COUNT; m++)
        iolens_registry.ranks_partial[m] = iolens_registry.partial >> m & 1;
    iolens_registry.ranks_partial[RANKS_WITHOUT_MEMORY] = iolens.starved;
}

static void write_object(const struct iolens_transport *transport, const struct names *hosts,
                         const struct names *programs, struct buffer *out)
{
    const struct identity *self = &iolens.identity;
    buffer_format(out, "{");
    add_text(out, "iolens", IOLENS_VERSION);
    add_text(out, "mpi", transport->mpi_version);
    add_text(out, "io_component", *self->io_component ? self->io_component : NULL);
    add_names(out, "hosts", "rank_host", hosts, hosts->ranks);
    if (iolens.programs_differ)
        add_names(out, "programs", "rank_program", programs, MOST_PROGRAMS);
    add_origin(out);
    add_text(out, "storage", iolens.settings.storage);
    add_text(out, "clock", iolens.clock.tsc ? "tsc" : "clock_gettime");
    add_text(out, "io_component_used", *iolens.io_component ? iolens.io_component : NULL);
    add_compilers(out, self->compiler);
    add_processor(out, &self->processor);
    add_partial(out);
    add_remarks(out);
    buffer_format(out, "\"after_finalize\": %s, ", iolens.finalized.ranks > 0 ? "true" : "false");
    buffer_format(out, "\"mounts\": ");
    mounts_json(out, self->mounts);
    buffer_format(out, ", ");
    add_object(out, "environment", self->environment);
    buffer_format(out, "}");
}

/* Collective. Gathers the names of all ranks; long names are cut. */
static void gather_names(const struct iolens_transport *transport, const char *own, struct names *names)
{
    char name[NAME_BYTES] = "";
    memcpy(name, own, strnlen(own, sizeof name - 1));
    names->ranks = transport->size;
    if (transport->rank == 0)
        buffer_add(&names->all, (size_t)transport->size * NAME_BYTES);
    if (transport->gather(name, sizeof name, names->all.data) != 0)
        names->all.failed = true;
}

static void write_job(const struct iolens_transport *transport, struct buffer *out)
{
    const struct identity *self = &iolens.identity;
    struct names hosts = {0}, programs = {0};
    char program[PROGRAM_BYTES];
    program_label(self, program);
    gather_names(transport, self->host, &hosts);
    if (iolens.programs_differ)
        gather_names(transport, iolens.stand_in ? "" : program, &programs);
    out->failed |= hosts.all.failed || programs.all.failed;
    if (transport->rank == 0 && !out->failed)
        write_object(transport, &hosts, &programs, out);
    buffer_free(&hosts.all);
    buffer_free(&programs.all);
}

const struct process_table table_job = {
    .name = "job",
    .meaning = "One JSON object about the run, written by rank 0; LOG.md explains its keys",
    .merging.count = count,
    .merging.sums = iolens_registry.ranks_partial,
    .merging.sum_count = MODULE_COUNT + 1,
    .merging.write = write_job,
};
