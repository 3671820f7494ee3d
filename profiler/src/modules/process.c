/* Records the resources of its node that each process used: memory, processor time, waiting. */
#include <sys/resource.h>

#include "../files/filter.h"
#include "../memory/area.h"
#include "../runtime/context.h"
#include "../system/system_call.h"
#include "../tables/table_merge.h"

enum { KIB = 1024, BLOCK = 512 };

#define LEAST_SECONDS 0.5

struct row {
    int64_t rank, ranks, max_rss, minor_faults, major_faults, voluntary_switches, involuntary_switches;
    int64_t storage_read, storage_written;
    double user_time, system_time;
    double earlier_user, earlier_system, seconds, first_on_core, first_runnable;
    double init_seconds, init_on_core, init_runnable, children_time;
};

/* Readings at the start; the times of a row are differences from them. */
static struct {
    double user, system, children; /* Processor times when recording began. */
    struct usage first, before_init;
    double init_began;
    struct usage init; /* Usage by the first thread inside MPI_Init. */
    double init_seconds;
} iolens_process;

static const struct column COLUMNS[] = {
    MERGED(rank, "<i8", "rank",
           "the rank to which these numbers belong; -1: all ranks without a row of their own", COLUMN_RANK),
    MERGED(ranks, "<i8", "ranks", "number of ranks that the row sums", COLUMN_SUM),
    MERGED(max_rss, "<i8", "B", "largest resident set", COLUMN_LARGEST),
    MERGED(minor_faults, "<i8", "faults", "page faults served without reading from storage", COLUMN_SUM),
    MERGED(major_faults, "<i8", "faults", "page faults that read from storage", COLUMN_SUM),
    MERGED(voluntary_switches, "<i8", "switches", "times that the process waited and gave up its core",
           COLUMN_SUM),
    MERGED(involuntary_switches, "<i8", "switches",
           "times that the process lost its core to another one, or yielded it by sched_yield", COLUMN_SUM),
    MERGED(storage_read, "<i8", "B", "bytes read from block devices of the node for the process", COLUMN_SUM),
    MERGED(storage_written, "<i8", "B", "bytes written to the page cache for block devices of the node",
           COLUMN_SUM),
    MERGED(user_time, "<f8", "s", "processor time in the program", COLUMN_SUM),
    MERGED(system_time, "<f8", "s", "processor time in the kernel", COLUMN_SUM),
    MERGED(earlier_user, "<f8", "s", "part of user_time that was spent before recording began", COLUMN_SUM),
    MERGED(earlier_system, "<f8", "s", "part of system_time that was spent before recording began",
           COLUMN_SUM),
    MERGED(seconds, "<f8", "s",
           "time in which the process was recorded; the following columns cover this time", COLUMN_SUM),
    MERGED(first_on_core, "<f8", "s", "processor time of the first thread", COLUMN_SUM),
    MERGED(first_runnable, "<f8", "s",
           "time in which the first thread was ready to run and waited for a core; NaN: the kernel does not "
           "count it",
           COLUMN_SUM),
    MERGED(init_seconds, "<f8", "s",
           "time inside MPI_Init; the next two columns cover this time, for the first thread", COLUMN_SUM),
    MERGED(init_on_core, "<f8", "s", "processor time inside MPI_Init", COLUMN_SUM),
    MERGED(
        init_runnable, "<f8", "s",
        "time in which the first thread waited for a core inside MPI_Init; NaN: the kernel does not count it",
        COLUMN_SUM),
    MERGED(children_time, "<f8", "s",
           "processor time of child processes that ended and were waited for, their own children included",
           COLUMN_SUM),
};

/* The row at the end of recording, if recording has ended. What the process uses afterwards writes the log:
 * ranks that share cores wait for them then, and these waits would exceed the run. */
static struct row at_end;
static bool has_ended;

static double seconds(struct timeval time) { return (double)time.tv_sec + 1e-6 * (double)time.tv_usec; }

/* Returns the processor time of the children that were waited for. */
static double time_of_children(void)
{
    struct rusage usage;
    return system_call(SYS_getrusage, RUSAGE_CHILDREN, &usage) == 0
               ? seconds(usage.ru_utime) + seconds(usage.ru_stime)
               : 0;
}

static void start(void)
{
    struct rusage usage;
    if (system_call(SYS_getrusage, RUSAGE_SELF, &usage) == 0) {
        iolens_process.user = seconds(usage.ru_utime);
        iolens_process.system = seconds(usage.ru_stime);
    }
    iolens_process.children = time_of_children();
    iolens_process.first = usage_of_thread((int32_t)iolens.pid);
}

/* Lets the counts of a child of fork begin at 0. After the log of a job, the process has used resources that
 * are in that log. */
static void reset(void)
{
    memset(&iolens_process, 0, sizeof iolens_process);
    has_ended = false;
    if (iolens.finalized.ranks > 0)
        start();
}

static void initialize(bool begins)
{
    struct usage now = usage_of_thread((int32_t)iolens.pid);
    if (begins) {
        iolens_process.before_init = now;
        iolens_process.init_began = clock_now(&iolens.clock);
        return;
    }
    iolens_process.init = usage_between(iolens_process.before_init, now);
    iolens_process.init_seconds = clock_now(&iolens.clock) - iolens_process.init_began;
}

/* Reads the resources that the process has used so far. Memory, faults and processor time count from its
 * start, including programs before an exec. */
static void read_usage(void *state)
{
    struct rusage usage;
    if (system_call(SYS_getrusage, RUSAGE_SELF, &usage) != 0)
        return;
    struct usage first = usage_between(iolens_process.first, usage_of_thread((int32_t)iolens.pid));
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
        .earlier_user = iolens_process.user,
        .earlier_system = iolens_process.system,
        .seconds = clock_now(&iolens.clock),
        .first_on_core = first.on_core,
        .first_runnable = first.runnable,
        .init_seconds = iolens_process.init_seconds,
        .init_on_core = iolens_process.init.on_core,
        .init_runnable = iolens_process.init.runnable,
        .children_time = time_of_children() - iolens_process.children,
    };
}

static void end(void)
{
    read_usage(&at_end);
    has_ended = true;
}

/* Returns true if the process's times are worth a record: it runs under `iolens run`, which shows them, and
 * has run for at least LEAST_SECONDS. */
static bool matters(void) { return *iolens.settings.run && clock_now(&iolens.clock) >= LEAST_SECONDS; }

static bool is_time_or_unknown(double value) { return isnan(value) || is_measured_time(value); }

static bool validate(const void *state, const struct area *area)
{
    const struct row *row = state;
    (void)area;
    const double times[] = {row->user_time,      row->system_time,  row->earlier_user,
                            row->earlier_system, row->seconds,      row->first_on_core,
                            row->init_seconds,   row->init_on_core, row->children_time};
    for (size_t i = 0; i < sizeof times / sizeof *times; i++)
        if (!is_measured_time(times[i]))
            return false;
    return is_time_or_unknown(row->first_runnable) && is_time_or_unknown(row->init_runnable);
}

/* Returns the row of this process. For a process that has already ended, this is the last row that it wrote
 * into its spool. */
static struct row row_of(int rank)
{
    struct row row = {0};
    const struct row *last = table_state_known(TABLE_process);
    if (!iolens.lost && filter_rank(rank) && has_ended)
        row = at_end;
    else if (!iolens.lost && filter_rank(rank))
        read_usage(&row);
    else if (iolens.lost && last)
        row = *last;
    row.seconds *= iolens.timeline.factor;
    row.init_seconds *= iolens.timeline.factor;
    row.rank = rank;
    row.ranks = row.max_rss > 0;
    return row;
}

/* Collects the rows of `process`. All ranks take part in choosing them; a rank without data contributes none.
 */
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
        "Memory, processor time, page faults and block I/O of a process, from its start to its end; for a "
        "killed process, until shortly before. Ranks beyond IOLENS_FILE_RANKS are summed in one row",
    TABLE_ROWS(COLUMNS),
    .recording.state_bytes = sizeof(struct row),
    .recording.validate = validate,
    .recording.start = start,
    .recording.end = end,
    .recording.reset = reset,
    .recording.initialize = initialize,
    .recording.beat = read_usage,
    .recording.matters = matters,
    .merging.collect = collect,
    .merging.weighed_by = {"max_rss"},
};
