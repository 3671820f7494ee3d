/* What each process took of its node: memory, processor time, waiting. */
#include <sys/resource.h>

#include "../memory/area.h"
#include "../files/filter.h"
#include "../runtime/context.h"
#include "../system/system_call.h"
#include "../tables/table_largest.h"

enum { KIB = 1024, BLOCK = 512 };

struct row {
    int64_t rank, ranks, max_rss, minor_faults, major_faults, voluntary_switches, involuntary_switches;
    int64_t storage_read, storage_written;
    double user_time, system_time;
};

static const struct column COLUMNS[] = {
    MERGED(rank, "<i8", "rank", "the rank that these numbers are of; -1: all that have no row of their own",
           COLUMN_RANK),
    MERGED(ranks, "<i8", "ranks", "how many ranks the row is of", COLUMN_SUM),
    MERGED(max_rss, "<i8", "B", "largest resident set", COLUMN_LARGEST),
    MERGED(minor_faults, "<i8", "faults", "page faults served without reading from storage", COLUMN_SUM),
    MERGED(major_faults, "<i8", "faults", "page faults that read from storage", COLUMN_SUM),
    MERGED(voluntary_switches, "<i8", "switches", "times that the process waited and gave its core away",
           COLUMN_SUM),
    MERGED(involuntary_switches, "<i8", "switches",
           "times that its core was taken from it, or yielded by sched_yield", COLUMN_SUM),
    MERGED(storage_read, "<i8", "B", "read from block devices of the node for the process", COLUMN_SUM),
    MERGED(storage_written, "<i8", "B", "written to the page cache for block devices of the node",
           COLUMN_SUM),
    MERGED(user_time, "<f8", "s", "processor time in the program", COLUMN_SUM),
    MERGED(system_time, "<f8", "s", "processor time in the kernel", COLUMN_SUM),
};

static double seconds(struct timeval time) { return (double)time.tv_sec + 1e-6 * (double)time.tv_usec; }

/* From the begin of the process on, what it was before an exec included. */
static void read_usage(void *state)
{
    struct rusage usage;
    if (system_call(SYS_getrusage, RUSAGE_SELF, &usage) != 0)
        return;
    *(struct row *)state = (struct row){
        .ranks = 1,
        .max_rss = (int64_t)usage.ru_maxrss * KIB,
        .minor_faults = usage.ru_minflt,
        .major_faults = usage.ru_majflt,
        .voluntary_switches = usage.ru_nvcsw,
        .involuntary_switches = usage.ru_nivcsw,
        .storage_read = (int64_t)usage.ru_inblock * BLOCK,
        .storage_written = (int64_t)usage.ru_oublock * BLOCK,
        .user_time = seconds(usage.ru_utime),
        .system_time = seconds(usage.ru_stime),
    };
}

static bool validate(const void *state, const struct area *area)
{
    const struct row *row = state;
    (void)area;
    return is_measured_time(row->user_time) && is_measured_time(row->system_time);
}

/* Of a process that is gone, what it last wrote into its spool. */
static struct row row_of(int rank)
{
    struct row row = {0};
    const struct row *last = table_state_known(TABLE_process);
    if (!iolens.lost && filter_rank(rank))
        read_usage(&row);
    else if (iolens.lost && last)
        row = *last;
    row.rank = rank;
    row.ranks = row.max_rss > 0;
    return row;
}

static int64_t weight(const void *row) { return ((const struct row *)row)->max_rss; }

/* All ranks take part in choosing; those of which nothing is known have no row. */
static void collect(const struct iolens_transport *transport, struct buffer *rows)
{
    struct row row = row_of(transport->rank);
    int64_t most = tables_most_rows(false);
    buffer_put(rows, &row, sizeof row);
    if (transport->size > most && table_keep_largest(TABLE_process, transport, most, rows) != 0)
        rows->failed = true;
    const struct row *all = (const struct row *)rows->data;
    size_t count = rows->used / sizeof *all;
    rows->used = 0;
    for (size_t i = 0; i < count; i++) {
        struct row kept = all[i];
        if (kept.ranks > 0)
            buffer_put(rows, &kept, sizeof kept);
    }
}

const struct process_table table_process = {
    .name = "process",
    .meaning =
        "What a process took of its node, from its begin to its end, or, of one that was killed, to a moment "
        "before. With more ranks than IOLENS_FILE_RANKS, the others are one row",
    TABLE_ROWS(COLUMNS),
    .state_bytes = sizeof(struct row),
    .validate = validate,
    .beat = read_usage,
    .collect = collect,
    .weight = weight,
};
