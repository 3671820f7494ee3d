/* The table `threads`: for each started thread the time on a core, and the time it waited for one. */
#include "../memory/area.h"
#include "../runtime/context.h"
#include "../sampling/threads.h"
#include "../tables/process_table.h"

enum { SEVERAL = -1 };

struct row {
    int64_t rank;
    int32_t thread;
    int64_t threads;
    double begin, seconds, on_core, runnable;
};

static const struct column COLUMNS[] = {
    MERGED(rank, "<i8", "rank", "the rank; -1: several ranks", COLUMN_RANK),
    MERGED(thread, "<i4", "thread",
           "number of the thread on this rank, from 1 on in the order of their starts; -1: several threads. "
           "The first thread is in the table `process`",
           COLUMN_KEY),
    MERGED(threads, "<i8", "threads", "number of threads that the row sums", COLUMN_SUM),
    MERGED(begin, "<f8", "s", "time from the start of the job to that of the thread", COLUMN_SMALLEST),
    MERGED(seconds, "<f8", "s", "time that the thread lived, until the end of recording at most", COLUMN_SUM),
    MERGED(on_core, "<f8", "s", "processor time of the thread", COLUMN_SUM),
    MERGED(runnable, "<f8", "s",
           "time in which it was ready to run and waited for a core; NaN: the kernel does not count it",
           COLUMN_SUM),
};

static bool validate(const void *state, const struct area *area)
{
    const struct lives *lives = state;
    (void)area;
    return lives->started >= 0;
}

static int64_t known(const struct lives *lives)
{
    return !lives ? 0 : lives->started < LIVES_MOST ? lives->started : LIVES_MOST;
}

/* Appends the row of a thread. If the thread has not ended yet, its usage is read now; in a killed process it
 * is unknown. */
static void put(struct buffer *rows, const struct life *life, int32_t number, int rank)
{
    double end = life->end;
    struct row row = {
        .rank = rank, .thread = number, .threads = 1, .begin = timeline_at(&iolens.timeline, life->begin)};
    if (life->kernel_id == 0 || (end == 0 && iolens.lost))
        return;
    struct usage used = end > 0 ? life->usage : usage_of_thread(life->kernel_id);
    double ended = timeline_at(&iolens.timeline, end > 0 ? end : clock_now(&iolens.clock));
    row.seconds = (ended < iolens.timeline.end ? ended : iolens.timeline.end) - row.begin;
    row.on_core = used.on_core;
    row.runnable = used.runnable;
    if (is_measured_time(row.begin) && is_measured_time(row.seconds) && is_measured_time(row.on_core))
        buffer_put(rows, &row, sizeof row);
}

static void collect(const struct iolens_transport *transport, struct buffer *rows)
{
    const struct lives *lives = table_state_known(TABLE_threads);
    for (int64_t i = 0; i < known(lives); i++)
        put(rows, &lives->thread[i], (int32_t)i + 1, transport->rank);
}

static int64_t most_rows(void) { return known(table_state_known(TABLE_threads)); }

static size_t rest(void *row)
{
    ((struct row *)row)->rank = -1;
    ((struct row *)row)->thread = SEVERAL;
    return 0;
}

const struct process_table table_threads = {
    .name = "threads",
    .meaning = "A thread that a process started through the C library; the first 256 of each process are "
               "recorded. When all ranks together have more rows than IOLENS_FILE_RANKS, the rows with the "
               "least processor time are summed in one",
    TABLE_ROWS(COLUMNS),
    .recording.state_bytes = sizeof(struct lives),
    .recording.validate = validate,
    .recording.start = lives_start,
    .recording.reset = lives_reset,
    .merging.collect = collect,
    .merging.weighed_by = {"on_core"},
    .merging.rest = rest,
    .merging.rest_slots = 1,
    .merging.most_rows = most_rows,
};
