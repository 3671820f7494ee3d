#include "regions.h"

#include <stdio.h>
#include <string.h>

#include "../../memory/area.h"
#include "../../runtime/context.h"
#include "../../runtime/region.h"
#include "../../runtime/thread_number.h"
#include "../../tables/keyed.h"
#include "../../tables/process_table.h"
#include "../counters/region_counters.h"
#include "../region_names.h"

enum { MOST_ROWS = 65536, REMARK_BYTES = 256 };

struct key {
    uint32_t thread, region;
};

/* A thread is in a region of one path at most once, so a row is also the note that it is in there. */
struct visits {
    struct keyed_row *outer; /* the row of the region that this one was begun in; while it is open */
    void *counted;           /* what the counters gave for it */
    int64_t id, calls, unended;
    uint32_t region_before, open;
    double since, held; /* when it was begun; 0 while recording is off, and `held` the seconds until then */
    double time, inner, least, most;
};

static const struct keyed_shape SHAPE = {
    .key_bytes = sizeof(struct key), .value_bytes = sizeof(struct visits), .most = MOST_ROWS};

/* What was marked wrongly, and what there was no room for. */
struct troubles {
    _Atomic int64_t unbegun, crowded;
    _Atomic int64_t unbegun_id; /* the latest */
};

struct state {
    struct keyed rows;
    struct troubles troubles;
};

static __thread struct keyed_row *innermost;
static __thread int64_t uncounted; /* regions begun without room for them, and not ended yet */
static __thread int64_t of_parent; /* begun in the process that this one was forked from */

static struct visits *visits_of(struct keyed_row *row) { return keyed_value(row, &SHAPE); }

void region_begin(int64_t id, const char *label)
{
    struct state *state = table_state(TABLE_regions);
    uint32_t region = state ? region_number(iolens_region, id, label) : REGION_OTHER;
    const struct key key = {thread_number(), region};
    struct keyed_row *row = region != REGION_OTHER ? keyed_find(&state->rows, &SHAPE, &key) : NULL;
    if (!row) {
        uncounted++;
        if (state)
            state->troubles.crowded++;
        return;
    }
    struct visits *visits = visits_of(row);
    visits->id = id;
    visits->outer = innermost;
    visits->region_before = iolens_region;
    visits->since = iolens_paused() ? 0 : clock_now(&iolens.clock);
    visits->held = 0;
    visits->counted = iolens_paused() ? NULL : counters_enter(region);
    visits->open = 1;
    innermost = row;
    iolens_region = region;
}

static void add_visit(struct visits *visits, double seconds)
{
    visits->calls++;
    visits->time += seconds;
    if (visits->calls == 1 || seconds < visits->least)
        visits->least = seconds;
    if (seconds > visits->most)
        visits->most = seconds;
}

static double seconds_in(const struct visits *visits, double now)
{
    return visits->since > 0 ? now - visits->since : visits->held;
}

static void leave(double now, bool ended)
{
    struct visits *visits = visits_of(innermost);
    double seconds = seconds_in(visits, now);
    visits->unended += !ended;
    if (seconds > 0)
        add_visit(visits, seconds);
    if (!iolens_paused())
        counters_leave(visits->counted);
    if (visits->outer)
        visits_of(visits->outer)->inner += seconds;
    visits->open = 0;
    iolens_region = visits->region_before;
    innermost = visits->outer;
}

static bool is_in(int64_t id)
{
    struct keyed_row *row = innermost;
    while (row && visits_of(row)->id != id)
        row = visits_of(row)->outer;
    return row;
}

static void note_unbegun(int64_t id)
{
    struct state *state = table_state(TABLE_regions);
    if (!state)
        return;
    state->troubles.unbegun++;
    state->troubles.unbegun_id = id;
}

void region_end(int64_t id)
{
    if (uncounted > 0) {
        uncounted--;
        return;
    }
    if (!is_in(id)) {
        if (of_parent > 0)
            of_parent--;
        else
            note_unbegun(id);
        return;
    }
    double now = clock_now(&iolens.clock);
    while (visits_of(innermost)->id != id)
        leave(now, false);
    leave(now, true);
}

/* What this process is in counts up to here, or goes on. */
void regions_pause(bool on)
{
    struct state *state = table_state_known(TABLE_regions);
    double now = clock_now(&iolens.clock);
    for (struct keyed_row *row = state ? keyed_first(&state->rows) : NULL; row; row = keyed_next(row)) {
        struct visits *visits = visits_of(row);
        if (on && visits->open && visits->since > 0)
            visits->held = now - visits->since;
        visits->since = on || !visits->open ? 0 : now - visits->held;
    }
}

static void reset(void)
{
    for (of_parent = uncounted; innermost; innermost = visits_of(innermost)->outer)
        of_parent++;
    uncounted = 0;
    iolens_region = REGION_NONE;
    thread_number_reset();
}

struct row {
    int64_t rank, calls, unended;
    double time, exclusive_time, min_time, max_time;
    uint32_t region;
    int32_t thread;
};

static const struct column COLUMNS[] = {
    MERGED(rank, "<i8", "rank", "the rank; -1: all that have no rows of their own", COLUMN_RANK),
    MERGED(thread, "<i4", "thread", "number of the thread in its process, 0 for the first; -1: of any rank",
           COLUMN_KEY),
    MERGED(region, "<u4", "region", "a number of `region_names`; 0xffffffff: any", COLUMN_KEY),
    MERGED(calls, "<i8", "calls", "times that the thread was in the region", COLUMN_SUM),
    MERGED(unended, "<i8", "calls",
           "of these, begun without an end: an outer region or the process ended first", COLUMN_SUM),
    MERGED(time, "<f8", "s", "time from begin to end, inner regions included", COLUMN_SUM),
    MERGED(exclusive_time, "<f8", "s", "the same without inner regions", COLUMN_SUM),
    MERGED(min_time, "<f8", "s", "the shortest call", COLUMN_SMALLEST),
    MERGED(max_time, "<f8", "s", "the longest call", COLUMN_LARGEST),
};

static struct visits *find_visits(struct keyed *rows, uint32_t thread, uint32_t region)
{
    for (struct keyed_row *row = keyed_first(rows); row; row = keyed_next(row)) {
        const struct key *key = keyed_key(row);
        if (key->thread == thread && key->region == region)
            return visits_of(row);
    }
    return NULL;
}

/* Regions that the process was in when it ended. */
static int64_t end_open(struct keyed *rows, double now)
{
    int64_t open = 0;
    for (struct keyed_row *row = keyed_first(rows); row; row = keyed_next(row)) {
        struct visits *visits = visits_of(row);
        double seconds = seconds_in(visits, now);
        if (!visits->open)
            continue;
        struct visits *outer =
            find_visits(rows, ((const struct key *)keyed_key(row))->thread, visits->region_before);
        visits->open = 0;
        visits->unended++;
        if (seconds > 0)
            add_visit(visits, seconds);
        if (outer)
            outer->inner += seconds;
    }
    for (struct keyed_row *row = keyed_first(rows); row; row = keyed_next(row))
        open += visits_of(row)->unended;
    return open;
}

static void put_row(struct buffer *rows, struct keyed_row *from, int rank)
{
    const struct key *key = keyed_key(from);
    const struct visits *visits = visits_of(from);
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

/* Troubles of all ranks, and an example of the first kind. */
enum { UNBEGUN, UNENDED, CROWDED, TROUBLES };

static int64_t iolens_regions_troubles[TROUBLES];

struct example {
    int64_t rank, id; /* rank -1: there is none */
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
        at += snprintf(
            at, (size_t)(end - at),
            "Regions were begun and not ended %lld time(s); the table regions says which (unended).%s",
            (long long)troubles[UNENDED], troubles[UNBEGUN] > 0 ? " " : "");
    if (troubles[UNBEGUN] > 0)
        snprintf(at, (size_t)(end - at),
                 "Regions were ended %lld time(s) by a thread that was not in them, such as region %lld on "
                 "rank %lld.",
                 (long long)troubles[UNBEGUN], (long long)example->id, (long long)example->rank);
    if (troubles[CROWDED] > 0)
        snprintf(iolens_regions_crowded, REMARK_BYTES,
                 "A process tells at most %d regions apart; %lld visits to others are missing.",
                 REGION_NAMES_MOST, (long long)troubles[CROWDED]);
}

static void count(int rank)
{
    struct state *state = table_state_known(TABLE_regions);
    (void)rank;
    iolens_regions_troubles[UNENDED] = state ? end_open(&state->rows, iolens.ended.recorded) : 0;
    iolens_regions_troubles[UNBEGUN] = state ? state->troubles.unbegun : 0;
    iolens_regions_troubles[CROWDED] = state ? state->troubles.crowded : 0;
}

static void collect(const struct iolens_transport *transport, struct buffer *rows)
{
    struct state *state = table_state_known(TABLE_regions);
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

static int64_t weight(const void *row) { return (int64_t)(((const struct row *)row)->time * 1e9); }

static size_t rest(void *row)
{
    struct row *merged = row;
    merged->rank = merged->thread = -1;
    merged->region = REGION_RUN;
    return 0;
}

static bool sound(const void *key, const void *value)
{
    const struct visits *visits = value;
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
    keyed_validate(&((struct state *)state)->rows, &SHAPE, area, sound);
    return true;
}

static int64_t most_rows(void)
{
    const struct state *state = table_state_known(TABLE_regions);
    return state ? keyed_made(&state->rows) : 0;
}

static bool matters(void) { return table_state_known(TABLE_regions); }

const struct process_table table_regions = {
    .name = "regions",
    .meaning = "How often and how long a thread was in a region that the program marked",
    TABLE_ROWS(COLUMNS),
    .state_bytes = sizeof(struct state),
    .validate = validate,
    .reset = reset,
    .matters = matters,
    .on_demand = true,
    .state_of = TABLE_regions,
    .count = count,
    .sums = iolens_regions_troubles,
    .sum_count = TROUBLES,
    .collect = collect,
    .left_out = left_out,
    .remark = remark,
    .weight = weight,
    .rest = rest,
    .rest_slots = 1,
    .most_rows = most_rows,
};
