/* The table `traced_counters`: counter values inside calls of traced functions. */
#include <stdio.h>
#include <string.h>

#include "../../callers/call_nodes.h"
#include "../../memory/area.h"
#include "../../tables/process_table.h"
#include "../../tables/table_merge.h"
#include "../counters/counter_names.h"
#include "../counters/perf.h"
#include "../region_names.h"
#include "traced_counters.h"

enum { REMARK_BYTES = 256 };

extern const struct process_table table_traced_counters;

struct row {
    int64_t rank, calls, value, throttled;
    double time_enabled, time_running;
    uint32_t region;
    int32_t node;
    char group[TRACED_GROUP_BYTES], function[TRACED_NAME_BYTES];
    char event[COUNTER_NAME_BYTES], unavailable[PERF_REASON_BYTES];
};

static const struct column COLUMNS[] = {
    MERGED(rank, "<i8", "rank", "the rank; -1: several ranks", COLUMN_RANK),
    {"group", "S16", "", "the same as in `traced`", offsetof(struct row, group), TRACED_GROUP_BYTES,
     COLUMN_KEY, TEXT_WORD},
    {"function", "S64", "", "the same as in `traced`", offsetof(struct row, function), TRACED_NAME_BYTES,
     COLUMN_KEY, TEXT_WORD},
    MERGED(region, "<u4", "region", "the same as in `traced`", COLUMN_KEY),
    MERGED(node, "<i4", "node", "the same as in `traced`", COLUMN_KEY),
    {"event", "S64", "", "name of the event, as in `counters`", offsetof(struct row, event),
     COUNTER_NAME_BYTES, COLUMN_KEY, TEXT_WORD},
    MERGED(
        calls, "<i8", "calls",
        "number of calls in which the event was counted; 0: it was not counted, and `unavailable` says why",
        COLUMN_SUM),
    MERGED(value, "<i8", "",
           "the count in these calls, inner calls included; task-clock in ns. Where `time_running` is less "
           "than `time_enabled`, multiply the count by time_enabled / time_running",
           COLUMN_SUM),
    MERGED(time_enabled, "<f8", "s", "time for which the profiler had requested the count", COLUMN_SUM),
    MERGED(time_running, "<f8", "s", "time in which the event had a counter of the processor and was counted",
           COLUMN_SUM),
    MERGED(throttled, "<i8", "ranks",
           "number of ranks that read the counters only in the first `calls` calls, because reading took "
           "more than a tenth of the time in them (checked every 10000 calls), or because `traced` stopped "
           "counting too",
           COLUMN_SUM),
    TEXT(unavailable, "S96", "why the event has no count", TEXT_WORD),
};

static void put_one(struct buffer *rows, const struct traced_sums *sums, int at, struct row row)
{
    row.calls = sums->of[at];
    row.value = sums->value[at];
    row.time_enabled = 1e-9 * (double)sums->enabled[at];
    row.time_running = 1e-9 * (double)sums->running[at];
    snprintf(row.event, sizeof row.event, "%s", counter_name(at));
    snprintf(row.unavailable, sizeof row.unavailable, "%s", counter_missing(at, false, sums->running[at]));
    if (*row.unavailable)
        row.value = row.calls = 0;
    buffer_put(rows, &row, sizeof row);
}

static void put_rows(struct buffer *rows, const struct traced_key *key, const struct traced_sums *sums,
                     int rank)
{
    const struct traced_name *name = traced_name_of(key->function);
    struct row row = {.rank = rank,
                      .region = key->region,
                      .node = key->function == TRACED_OWN ? call_node_written(sums->node) : -1,
                      .throttled = sums->throttled};
    memcpy(row.group, name->group, sizeof row.group);
    memcpy(row.function, name->function, sizeof row.function);
    for (int at = 0; at < counters_number() && sums->calls > 0; at++)
        if (counter_is_of_parts(at))
            put_one(rows, sums, at, row);
}

static int64_t iolens_traced_troubles[TRACED_TROUBLES];
static char iolens_traced_remark[REMARK_BYTES];

static void count(int rank)
{
    const struct traced_counters_state *state = table_state_known(TABLE_traced_counters);
    (void)rank;
    for (int i = 0; i < TRACED_TROUBLES; i++)
        iolens_traced_troubles[i] = state ? state->troubles[i] : 0;
}

static void collect(const struct iolens_transport *transport, struct buffer *rows)
{
    const int64_t *troubles = iolens_traced_troubles;
    struct traced_counters_state *state = table_state_known(TABLE_traced_counters);
    for (struct keyed_row *at = state ? keyed_first(&state->rows) : NULL; at; at = keyed_next(at))
        put_rows(rows, keyed_key(at), keyed_value(at, &traced_sums_shape), transport->rank);
    table_fold(&table_traced_counters, rows);
    *iolens_traced_remark = '\0';
    if (troubles[TRACED_TOO_DEEP] + troubles[TRACED_CUT] > 0)
        snprintf(
            iolens_traced_remark, REMARK_BYTES,
            "Counters of traced functions lack %lld call(s) that were nested more than %d deep, and %lld "
            "call(s) in which recording was switched on or off, or whose caller was left by longjmp.",
            (long long)troubles[TRACED_TOO_DEEP], TRACED_DEEPEST, (long long)troubles[TRACED_CUT]);
}

static const char *remark(void) { return *iolens_traced_remark ? iolens_traced_remark : NULL; }

static size_t rest(void *row)
{
    struct row *merged = row;
    merged->rank = -1;
    merged->region = REGION_RUN;
    merged->node = -2;
    memset(merged->group, 0, sizeof merged->group);
    memset(merged->function, 0, sizeof merged->function);
    return counter_place(merged->event);
}

static bool validate(const void *memory, const struct area *area)
{
    keyed_validate(&((struct traced_counters_state *)memory)->rows, &traced_sums_shape, area, NULL);
    return true;
}

static int64_t most_rows(void)
{
    const struct traced_counters_state *state = table_state_known(TABLE_traced_counters);
    return state ? counters_number() * keyed_made(&state->rows) : 0;
}

const struct process_table table_traced_counters = {
    .name = "traced_counters",
    .meaning = "Counts of the kernel and the processor in the calls of traced functions, in the threads that "
               "called them, where functions are traced and counters are requested",
    TABLE_ROWS(COLUMNS),
    .recording.state_bytes = sizeof(struct traced_counters_state),
    .recording.validate = validate,
    .recording.reset = traced_counters_reset,
    .merging.on_demand = true,
    .merging.count = count,
    .merging.sums = iolens_traced_troubles,
    .merging.sum_count = TRACED_TROUBLES,
    .merging.collect = collect,
    .remarks.remark = remark,
    .merging.weighed_by = {"time_enabled"},
    .merging.rest = rest,
    .merging.rest_slots = COUNTER_PLACES,
    .merging.most_rows = most_rows,
};
