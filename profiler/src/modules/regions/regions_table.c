/* The table `regions`: number and time of each thread's visits to each region, and incorrect marks. */
#include <stdio.h>

#include "../../memory/area.h"
#include "../../runtime/context.h"
#include "../../tables/process_table.h"
#include "../mpi_calls/mpi_calls.h"
#include "../region_names.h"
#include "regions.h"

enum { REMARK_BYTES = 256 };

struct row {
    int64_t rank, calls, unended;
    double time, exclusive_time, min_time, max_time;
    uint32_t region;
    int32_t thread;
};

static const struct column COLUMNS[] = {
    MERGED(rank, "<i8", "rank", "the rank; -1: all ranks without rows of their own", COLUMN_RANK),
    MERGED(thread, "<i4", "thread",
           "number of the thread in its process, 0 for the first; -1: several threads", COLUMN_KEY),
    MERGED(region, "<u4", "region", "the region, a number of `region_names`; 0xffffffff: several regions",
           COLUMN_KEY),
    MERGED(calls, "<i8", "calls", "how often the thread was in the region", COLUMN_SUM),
    MERGED(unended, "<i8", "calls",
           "the part of `calls` that has no end: an outer region, the thread or the process ended first",
           COLUMN_SUM),
    MERGED(time, "<f8", "s", "time from begin to end, inner regions included", COLUMN_SUM),
    MERGED(exclusive_time, "<f8", "s", "time from begin to end, inner regions excluded", COLUMN_SUM),
    MERGED(min_time, "<f8", "s", "the shortest call", COLUMN_SMALLEST),
    MERGED(max_time, "<f8", "s", "the longest call", COLUMN_LARGEST),
};

static struct region_visits *find_visits(struct keyed *rows, uint32_t thread, uint32_t region)
{
    for (struct keyed_row *row = keyed_first(rows); row; row = keyed_next(row)) {
        const struct region_visits_key *key = keyed_key(row);
        if (key->thread == thread && key->region == region)
            return region_visits_of(row);
    }
    return NULL;
}

/* Ends the regions that are still open at the end of the process; returns their number. */
static int64_t end_open(struct keyed *rows, double now)
{
    int64_t open = 0;
    for (struct keyed_row *row = keyed_first(rows); row; row = keyed_next(row)) {
        struct region_visits *visits = region_visits_of(row);
        double seconds = region_visits_seconds(visits, now);
        if (!visits->open)
            continue;
        struct region_visits *outer = find_visits(
            rows, ((const struct region_visits_key *)keyed_key(row))->thread, visits->region_before);
        visits->open = 0;
        visits->unended++;
        if (seconds > 0)
            region_visits_add(visits, seconds);
        if (outer)
            outer->inner += seconds;
    }
    for (struct keyed_row *row = keyed_first(rows); row; row = keyed_next(row))
        open += region_visits_of(row)->unended;
    return open;
}

static void put_row(struct buffer *rows, struct keyed_row *from, int rank)
{
    const struct region_visits_key *key = keyed_key(from);
    const struct region_visits *visits = region_visits_of(from);
    double factor = iolens.timeline.factor, exclusive = visits->time - visits->inner;
    struct row row = {.rank = rank,
                      .thread = (int32_t)key->thread,
                      .region = key->region,
                      .calls = visits->calls,
                      .unended = visits->unended,
                      .time = visits->time * factor,
                      .exclusive_time = exclusive > 0 ? exclusive * factor : 0,
                      .min_time = visits->least * factor,
                      .max_time = visits->most * factor};
    if (visits->calls > 0)
        buffer_put(rows, &row, sizeof row);
}

/* Kinds of mistakes in a program's marks of regions, summed over all ranks. */
enum { UNBEGUN, UNENDED, CROWDED, TROUBLES };

static int64_t iolens_regions_troubles[TROUBLES];

struct example {
    int64_t rank, id; /* `rank`: a rank that ended a region which was never begun; -1 if there is none. */
};

static void combine(const void *in, void *inout)
{
    const struct example *from = in;
    if (from->rank >= 0)
        *(struct example *)inout = *from;
}

static char iolens_regions_remark[REMARK_BYTES], iolens_regions_crowded[REMARK_BYTES];

static void write_sentences(const struct example *example)
{
    const int64_t *troubles = iolens_regions_troubles;
    char *at = iolens_regions_remark, *end = at + REMARK_BYTES;
    *at = *iolens_regions_crowded = '\0';
    if (troubles[UNENDED] > 0)
        at += snprintf(at, (size_t)(end - at),
                       "The program began regions and did not end them, %lld time(s); the column unended of "
                       "the table regions says which.%s",
                       (long long)troubles[UNENDED], troubles[UNBEGUN] > 0 ? " " : "");
    if (troubles[UNBEGUN] > 0)
        snprintf(at, (size_t)(end - at),
                 "A thread ended a region without having begun it, %lld time(s), such as region %lld on rank "
                 "%lld.",
                 (long long)troubles[UNBEGUN], (long long)example->id, (long long)example->rank);
    if (troubles[CROWDED] > 0)
        snprintf(
            iolens_regions_crowded, REMARK_BYTES,
            "A process records at most %d different regions; %lld visits to further regions are missing.",
            REGION_NAMES_MOST, (long long)troubles[CROWDED]);
}

static void count(int rank)
{
    struct regions_state *state = table_state_known(TABLE_regions);
    (void)rank;
    iolens_regions_troubles[UNENDED] = state ? end_open(&state->rows, iolens.ended.recorded) : 0;
    iolens_regions_troubles[UNBEGUN] = state ? state->troubles.unbegun : 0;
    iolens_regions_troubles[CROWDED] = state ? state->troubles.crowded : 0;
}

static void collect(const struct iolens_transport *transport, struct buffer *rows)
{
    struct regions_state *state = table_state_known(TABLE_regions);
    struct example example = {.rank = -1};
    if (state && state->troubles.unbegun > 0)
        example = (struct example){transport->rank, state->troubles.unbegun_id};
    for (struct keyed_row *row = state ? keyed_first(&state->rows) : NULL; row; row = keyed_next(row))
        put_row(rows, row, transport->rank);
    if (iolens_regions_troubles[UNBEGUN] > 0 &&
        transport->reduce_records(&example, sizeof example, 1, combine) != 0)
        rows->failed = true;
    write_sentences(&example);
}

static const char *left_out(void) { return *iolens_regions_crowded ? iolens_regions_crowded : NULL; }

static const char *remark(void) { return *iolens_regions_remark ? iolens_regions_remark : NULL; }

static size_t rest(void *row)
{
    struct row *merged = row;
    merged->rank = merged->thread = -1;
    merged->region = REGION_RUN;
    return 0;
}

/* Keeps the visits that the program did not end before the end of recording. */
static void end(void)
{
    struct regions_state *state = table_state_known(TABLE_regions);
    double now = clock_now(&iolens.clock);
    for (struct keyed_row *row = state ? keyed_first(&state->rows) : NULL; row; row = keyed_next(row)) {
        const struct region_visits_key *key = keyed_key(row);
        const struct region_visits *visits = region_visits_of(row);
        if (visits->open && visits->since > 0 && key->thread == 0)
            why_region_left(key->region, visits->since, now);
    }
}

static bool sound(const void *key, const void *value)
{
    const struct region_visits *visits = value;
    (void)key;
    const double seconds[] = {visits->since, visits->held,  visits->time,
                              visits->inner, visits->least, visits->most};
    bool measured = true;
    for (size_t i = 0; i < sizeof seconds / sizeof *seconds; i++)
        measured = measured && is_measured_time(seconds[i]);
    return measured;
}

static bool validate(const void *state, const struct area *area)
{
    keyed_validate(&((struct regions_state *)state)->rows, &region_visits_shape, area, sound);
    return true;
}

static int64_t most_rows(void)
{
    const struct regions_state *state = table_state_known(TABLE_regions);
    return state ? keyed_made(&state->rows) : 0;
}

const struct process_table table_regions = {
    .name = "regions",
    .meaning = "Number of times and total time that a thread was in a region that the program marked",
    TABLE_ROWS(COLUMNS),
    .recording.state_bytes = sizeof(struct regions_state),
    .recording.validate = validate,
    .recording.reset = regions_reset,
    .recording.end = end,
    .recording.matters_if_used = true,
    .merging.on_demand = true,
    .merging.count = count,
    .merging.sums = iolens_regions_troubles,
    .merging.sum_count = TROUBLES,
    .merging.collect = collect,
    .remarks.left_out = left_out,
    .remarks.remark = remark,
    .merging.weighed_by = {"time"},
    .merging.rest = rest,
    .merging.rest_slots = 1,
    .merging.most_rows = most_rows,
};
