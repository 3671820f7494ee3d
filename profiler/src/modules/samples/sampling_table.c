/* The table `sampling`: the sampled threads, and how completely they were sampled. */
#include <stdio.h>

#include "../../memory/area.h"
#include "../../sampling/sampling.h"
#include "../../tables/process_table.h"

enum { TIMER_BYTES = 16, SEVERAL = -1 };

struct row {
    int64_t rank;
    int32_t thread;
    char timer[TIMER_BYTES];
    double asked_hz;
    int64_t samples, stacks, lost, cut, paused;
    double duration, handler_time;
};

static const struct column COLUMNS[] = {
    MERGED(rank, "<i8", "rank", "the rank; -1: several ranks", COLUMN_RANK),
    MERGED(thread, "<i4", "thread",
           "number of the thread on this rank, 0 for the main thread; -1: several threads, or one without a "
           "timer. With more than 1024 threads, new threads get the numbers of threads that ended",
           COLUMN_KEY),
    TEXT(timer, "S16", "clock of the timer. wall: it runs always; cpu: it runs while the thread has a core",
         TEXT_WORD),
    MERGED(asked_hz, "<f8", "1/s", "requested number of timer periods per second of this clock", COLUMN_KEY),
    MERGED(samples, "<i8", "periods", "number of periods that are counted in `samples`", COLUMN_SUM),
    MERGED(stacks, "<i8", "samples",
           "number of times that the thread was interrupted; divided by the duration, this is the real "
           "sampling rate",
           COLUMN_SUM),
    MERGED(lost, "<i8", "periods", "number of periods that are counted neither in `samples` nor in `paused`",
           COLUMN_SUM),
    MERGED(paused, "<i8", "periods", "number of periods in which the program had switched recording off",
           COLUMN_SUM),
    MERGED(cut, "<i8", "samples", "number of samples whose outermost callers are not known", COLUMN_SUM),
    MERGED(duration, "<f8", "s", "time in which the timer ran, by its clock", COLUMN_SUM),
    MERGED(handler_time, "<f8", "s", "time that the profiler spent in taking the samples", COLUMN_SUM),
};

static bool validate(const void *memory, const struct area *area)
{
    const struct sampling *state = memory;
    (void)area;
    if (!(state->hz > 0 && state->hz < 1e6) || state->threads < 0 || state->threads > SAMPLED_THREADS)
        return false;
    for (int64_t i = 0; i < state->threads; i++) {
        const struct sampled_thread *thread = &state->thread[i];
        if (!is_measured_time(thread->earlier) || !is_measured_time(thread->handler_time) ||
            !is_measured_time(thread->last) || !is_measured_time(thread->begin) || thread->samples < 0 ||
            thread->paused < 0)
            return false;
    }
    return true;
}

/* Returns the latest sample's time, on the clock of all times. */
static double latest(const void *memory)
{
    const struct sampling *state = memory;
    double end = 0;
    for (int64_t i = 0; i < state->threads && !state->by_processor; i++)
        if (state->thread[i].last > end)
            end = state->thread[i].last;
    return end;
}

/* Returns the duration of a thread, up to its latest sample if it still runs. */
static double duration(const struct sampled_thread *thread)
{
    double running = thread->last - thread->begin;
    return thread->earlier + (running > 0 ? running : 0);
}

static void put_thread(struct buffer *rows, const struct sampling *state, int32_t i, int rank)
{
    const struct sampled_thread *thread = &state->thread[i];
    struct row row = {.rank = rank,
                      .thread = i,
                      .asked_hz = state->hz,
                      .samples = thread->samples,
                      .paused = thread->paused,
                      .stacks = thread->stacks,
                      .cut = thread->cut,
                      .duration = duration(thread),
                      .handler_time = thread->handler_time};
    int64_t periods = (int64_t)(row.duration * row.asked_hz);
    row.lost = periods > row.samples + row.paused ? periods - row.samples - row.paused : 0;
    strcpy(row.timer, state->by_processor ? "cpu" : "wall");
    buffer_put(rows, &row, sizeof row);
}

static size_t rest(void *row)
{
    ((struct row *)row)->rank = -1;
    ((struct row *)row)->thread = SEVERAL;
    return 0;
}

static void collect(const struct iolens_transport *transport, struct buffer *rows)
{
    const struct sampling *state = table_state_known(TABLE_sampling);
    for (int64_t i = 0; state && i < state->threads; i++)
        put_thread(rows, state, (int32_t)i, transport->rank);
}

static int64_t most_rows(void)
{
    const struct sampling *state = table_state_known(TABLE_sampling);
    return state ? state->threads : 0;
}

static const char *remark(void)
{
    static char sentence[160];
    const char *debugger = sampling_debugger();
    if (!debugger)
        return NULL;
    snprintf(sentence, sizeof sentence,
             "no samples were taken: the program ran under a debugger (%s), which would have stopped it "
             "at every sample",
             debugger);
    return sentence;
}

const struct process_table table_sampling = {
    .name = "sampling",
    .meaning = "A thread that was sampled (IOLENS_SAMPLE), with the number of samples taken and missed",
    TABLE_ROWS(COLUMNS),
    .recording.state_bytes = sizeof(struct sampling),
    .recording.validate = validate,
    .recording.latest = latest,
    .merging.collect = collect,
    .merging.weighed_by = {"samples"},
    .merging.rest = rest,
    .merging.rest_slots = 1,
    .merging.most_rows = most_rows,
    .remarks.remark = remark,
};
