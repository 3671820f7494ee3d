/* The table `counters`: counter values of each process and of each region in it. */
#include <stdio.h>

#include "../../files/filter.h"
#include "../../memory/area.h"
#include "../../runtime/context.h"
#include "../../tables/table_merge.h"
#include "../region_names.h"
#include "process_counters.h"

extern const struct process_table table_counters;

struct row {
    int64_t rank, value;
    double time_enabled, time_running;
    uint32_t region;
    char event[COUNTER_NAME_BYTES], unavailable[PERF_REASON_BYTES];
};

static const struct column COLUMNS[] = {
    MERGED(rank, "<i8", "rank", "the rank; -1: the sum of several ranks", COLUMN_RANK),
    MERGED(region, "<u4", "region",
           "the region, a number of `region_names`, counted with its inner regions in the threads that "
           "marked it; 0xffffffff: the whole run in all threads; 0xfffffffe: several regions",
           COLUMN_KEY),
    {"event", "S64", "", "name of the event, as PAPI or perf calls it", offsetof(struct row, event),
     COUNTER_NAME_BYTES, COLUMN_KEY, TEXT_WORD},
    MERGED(value, "<i8", "",
           "the count; task-clock in ns, peak-memory in B; below 0: not counted. If `time_running` is "
           "less than `time_enabled`, multiply the count by time_enabled / time_running",
           COLUMN_SUM),
    MERGED(time_enabled, "<f8", "s", "time for which the profiler had requested the count", COLUMN_SUM),
    MERGED(time_running, "<f8", "s", "time in which the event had a counter of the processor and was counted",
           COLUMN_SUM),
    TEXT(unavailable, "S96", "why the event has no count; empty where it has one", TEXT_WORD),
};

static void put_one(struct buffer *rows, int at, const struct counts *counts, struct row row)
{
    bool whole_run = row.region == REGION_RUN;
    row.value = counts->value[at];
    row.time_enabled = 1e-9 * (double)counts->enabled[at];
    row.time_running = 1e-9 * (double)counts->running[at];
    snprintf(row.event, sizeof row.event, "%s", counter_name(at));
    snprintf(row.unavailable, sizeof row.unavailable, "%s",
             counter_missing(at, whole_run, counts->running[at]));
    if (*row.unavailable)
        row.value = -1;
    buffer_put(rows, &row, sizeof row);
}

static void put_rows(struct buffer *rows, const struct counts *counts, struct row row)
{
    int last = counters_number();
    for (int at = 0; at < last; at++)
        if (row.region == REGION_RUN || counter_is_of_parts(at))
            put_one(rows, at, counts, row);
}

static void count(int rank)
{
    if (!iolens.lost && filter_rank(rank))
        counters_read_run();
}

static bool put_regions(struct buffer *rows, const struct counters_state *state, struct row row, bool missing)
{
    struct buffer all = {0};
    for (struct keyed_row *at = keyed_first(&state->regions); at; at = keyed_next(at)) {
        const struct region_counts *counted = keyed_value(at, &region_counts_shape);
        row.region = ((const struct region_key *)keyed_key(at))->region;
        put_rows(&all, &counted->sum, row);
    }
    const struct row *put = (const struct row *)all.data;
    for (size_t i = 0; i < all.used / sizeof *put; i++)
        if ((*put[i].unavailable != '\0') == missing)
            buffer_put(rows, &put[i], sizeof *put);
    bool failed = all.failed;
    buffer_free(&all);
    return !failed;
}

/* Collects the rows of `counters`. If the value of one thread of a region is missing, the sum over the
 * region's threads is missing, too, for the reason that the first such row gives. */
static void collect(const struct iolens_transport *transport, struct buffer *rows)
{
    struct counters_state *state = table_state_known(TABLE_counters);
    struct row row = {.rank = transport->rank, .region = REGION_RUN};
    if (state) {
        put_rows(rows, &state->run, row);
        rows->failed |= !put_regions(rows, state, row, true) || !put_regions(rows, state, row, false);
    }
    table_fold(&table_counters, rows);
    for (size_t i = 0; i < rows->used / sizeof row; i++)
        if (*((struct row *)rows->data)[i].unavailable)
            ((struct row *)rows->data)[i].value = -1;
}

/* Returns the importance of a row: rows of whole runs are kept before those of regions with large values. */
static int64_t weight(const void *row)
{
    const struct row *counted = row;
    return counted->region == REGION_RUN ? INT64_MAX : counted->value > 0 ? counted->value : 0;
}

/* Turns a row into one that stands for all ranks and regions without a row of their own, and returns the
 * number of the row with which it is merged. Rows with and without a counted value get different numbers. */
static size_t rest(void *row)
{
    struct row *merged = row;
    bool run = merged->region == REGION_RUN, missing = *merged->unavailable;
    merged->rank = -1;
    merged->region = run ? REGION_RUN : REGION_OTHER;
    return counter_place(merged->event) + COUNTER_PLACES * (run + 2 * missing);
}

static bool validate(const void *memory, const struct area *area)
{
    struct counters_state *state = (struct counters_state *)memory;
    if (state->events > EVENTS_MOST)
        return false;
    for (size_t i = 0; i < state->events; i++)
        if (state->event[i] >= EVENTS)
            return false;
    for (int i = 0; i < SET_PLACES; i++)
        state->reasons.of[i][PERF_REASON_BYTES - 1] = '\0';
    state->moved[PERF_REASON_BYTES - 1] = '\0';
    keyed_validate(&state->regions, &region_counts_shape, area, NULL);
    return true;
}

static int64_t most_rows(void)
{
    const struct counters_state *state = table_state_known(TABLE_counters);
    return state ? (SOFT_COUNTERS + (int64_t)state->events) * (1 + keyed_made(&state->regions)) : 0;
}

static void reset(void)
{
    if (counters_reset())
        thread_counters_reset();
}

static void beat(void *memory)
{
    (void)memory;
    counters_read_so_far();
}

const struct process_table table_counters = {
    .name = "counters",
    .meaning = "Counts of the kernel and the processor, from the start of recording to its end; for a killed "
               "process, until shortly before. Beyond IOLENS_FILE_RANKS rows, the smallest are summed in one",
    TABLE_ROWS(COLUMNS),
    .recording.state_bytes = sizeof(struct counters_state),
    .recording.validate = validate,
    .recording.reset = reset,
    .recording.matters = counters_matter,
    .recording.beat = beat,
    .merging.count = count,
    .merging.collect = collect,
    .merging.weight = weight,
    .merging.rest = rest,
    .merging.rest_slots = 4 * COUNTER_PLACES,
    .merging.most_rows = most_rows,
};
