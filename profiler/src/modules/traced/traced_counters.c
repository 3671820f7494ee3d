/* Counters of single calls of traced functions. They are read at a call's begin and end, and what lies
 * between is added up by function and region.
 *
 * A thread keeps what it read at the begin of each call that it is in. Calls that are left without an end, by
 * longjmp or in a forked child, are known by the stack: it has been given back where a later call begins
 * farther up. What cannot be told for certain is not counted. */
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "../../callers/call_nodes.h"
#include "../../memory/area.h"
#include "../../runtime/region.h"
#include "../../runtime/thread_slot.h"
#include "../../runtime/wrap.h"
#include "../../tables/keyed.h"
#include "../../tables/process_table.h"
#include "../../tables/table_merge.h"
#include "../counters/counter_names.h"
#include "../counters/perf.h"
#include "../counters/process_counters.h"
#include "../counters/thread_counters.h"
#include "../region_names.h"
#include "traced_functions.h"

enum {
    MOST_ROWS = 16384,
    DEEPEST = 64,
    PLACE_BITS = 8,
    THROTTLE_CALLS = 10000,
    THROTTLE_SHARE = 10,
    REMARK_BYTES = 256
};

_Static_assert(DEEPEST < 1 << PLACE_BITS, "a place has its bits in a number of a call");

/* Of all threads. A counter has `calls` of its own: it may be there in some threads alone. */
struct sums {
    _Atomic int64_t calls, reading_ns, inside_ns;
    _Atomic int64_t of[COUNTERS_MOST], value[COUNTERS_MOST], enabled[COUNTERS_MOST], running[COUNTERS_MOST];
    _Atomic uint32_t node, throttled;
};

/* Calls without counters, though those before and after have them. */
enum { TOO_DEEP, CUT, TROUBLES };

struct state {
    struct keyed rows;
    _Atomic int64_t troubles[TROUBLES];
};

static const struct keyed_shape SHAPE = {.key_bytes = sizeof(struct traced_key),
                                         .value_bytes = sizeof(struct sums),
                                         .most = MOST_ROWS,
                                         .in_handlers = true};

extern const struct process_table table_traced_counters;

/* A call that has begun. */
struct begun {
    uint64_t number;
    uintptr_t frame;
    uint32_t epoch;
    double before, after; /* the counters were read */
    struct counts counts;
};

struct calls {
    struct begun begun[DEEPEST];
};

/* By thread_slot, whose last one several threads may share. Memory of a thread that ended serves another. */
static struct calls *iolens_traced_calls[SLOTS_MOST - 1];

/* What this thread has begun, and not ended, in the memory of which slot. */
static __thread struct {
    uint64_t last;
    uint32_t depth, slot;
} own __attribute__((tls_model("initial-exec")));

static void note(int trouble)
{
    struct state *state = table_state(TABLE_traced_counters);
    if (state)
        atomic_fetch_add_explicit(&state->troubles[trouble], 1, memory_order_relaxed);
}

static struct sums *sums_of(const struct traced_key *key)
{
    struct state *state = table_state(TABLE_traced_counters);
    struct keyed_row *row = state ? keyed_find(&state->rows, &SHAPE, key) : NULL;
    return row ? keyed_value(row, &SHAPE) : NULL;
}

/* Every page is written to now, and the counters are read once: what that takes is none of a call's. */
static struct calls *made(uint32_t slot)
{
    struct calls *calls = arena_alloc(&iolens.scratch, sizeof *calls);
    struct counts unused;
    if (!calls)
        return NULL;
    memset(calls, 0, sizeof *calls);
    counters_begin(&unused);
    counters_end(&unused);
    iolens_traced_calls[slot] = calls;
    return calls;
}

static struct calls *calls_of_thread(void)
{
    uint32_t slot = thread_slot();
    if (slot >= SLOTS_MOST - 1)
        return NULL;
    if (slot != own.slot)
        own.depth = 0;
    own.slot = slot;
    return iolens_traced_calls[slot] ? iolens_traced_calls[slot] : made(slot);
}

static bool is_throttled(const struct traced_key *key, struct sums *sums)
{
    if (!sums->throttled && traced_throttled(key))
        sums->throttled = 1;
    return sums->throttled;
}

/* A signal handler may have a stack of its own. */
static bool on_signal_stack(void)
{
    stack_t signals;
    return syscall(SYS_sigaltstack, NULL, &signals) == 0 && (signals.ss_flags & SS_ONSTACK);
}

/* Calls whose part of the stack has been given back. Without room for one more also those in the same place:
 * they may have been left as well, or be functions that the one which begins now is inlined into. */
static void forget_left(const struct calls *calls, uintptr_t frame)
{
    uintptr_t most = frame - (own.depth < DEEPEST);
    if (own.depth == 0 || calls->begun[own.depth - 1].frame > most || on_signal_stack())
        return;
    while (own.depth > 0 && calls->begun[own.depth - 1].frame <= most)
        own.depth--;
}

static uint64_t begin(const struct traced_key *key, uintptr_t frame)
{
    struct sums *sums = sums_of(key);
    struct calls *calls = sums && !is_throttled(key, sums) ? calls_of_thread() : NULL;
    if (!calls)
        return 0;
    forget_left(calls, frame);
    if (own.depth == DEEPEST) {
        note(TOO_DEEP);
        return 0;
    }
    struct begun *begun = &calls->begun[own.depth];
    begun->number = ++own.last << PLACE_BITS | own.depth++;
    begun->frame = frame;
    begun->epoch = counters_epoch();
    begun->before = clock_now(&iolens.clock);
    counters_begin(&begun->counts);
    begun->after = clock_now(&iolens.clock);
    return begun->number;
}

IOLENS_EXPORT uint64_t iolens_counted_begin(uint32_t function, uintptr_t address, uintptr_t frame)
{
    const struct traced_key key = {function, iolens_region, address};
    uint64_t number = 0;
    if (iolens_active() && !iolens_paused())
        RECORDER(number = begin(&key, frame));
    return number;
}

static void grow(_Atomic int64_t *sum, int64_t by)
{
    atomic_fetch_add_explicit(sum, by, memory_order_relaxed);
}

/* A counter that the program closed in between reads less than before. */
static void add(struct sums *sums, const struct counts *begin, const struct counts *end)
{
    for (int i = 0; i < counters_number(); i++) {
        int64_t enabled = end->enabled[i] - begin->enabled[i];
        if (enabled <= 0)
            continue;
        grow(&sums->of[i], 1);
        grow(&sums->value[i], end->value[i] - begin->value[i]);
        grow(&sums->enabled[i], enabled);
        grow(&sums->running[i], end->running[i] - begin->running[i]);
    }
}

static int64_t ns(double seconds) { return (int64_t)(seconds * 1e9); }

/* No more where reading takes too large a part of what is measured. */
static void count_reading(struct sums *sums, double reading, double inside)
{
    grow(&sums->reading_ns, ns(reading));
    grow(&sums->inside_ns, ns(inside));
    if (atomic_fetch_add(&sums->calls, 1) % THROTTLE_CALLS == THROTTLE_CALLS - 1 &&
        sums->reading_ns > sums->inside_ns / THROTTLE_SHARE)
        sums->throttled = 1;
}

static const struct begun *ended(uint64_t number)
{
    const struct calls *calls = calls_of_thread();
    uint32_t place = number & ((1 << PLACE_BITS) - 1);
    if (!calls || place >= own.depth || calls->begun[place].number != number)
        return NULL;
    own.depth = place;
    return calls->begun[place].epoch == counters_epoch() ? &calls->begun[place] : NULL;
}

static void end(uint64_t number, const struct traced_key *key)
{
    struct counts counts;
    double before = clock_now(&iolens.clock);
    counters_end(&counts);
    double after = clock_now(&iolens.clock);
    const struct begun *begun = ended(number);
    struct sums *sums = begun ? sums_of(key) : NULL;
    if (!begun)
        note(CUT);
    if (!sums || is_throttled(key, sums))
        return;
    if (sums->calls == 0 && key->function == TRACED_OWN)
        sums->node = call_node(CALL_NODE_NONE, key->address, true);
    add(sums, &begun->counts, &counts);
    count_reading(sums, begun->after - begun->before + after - before, before - begun->after);
}

IOLENS_EXPORT void iolens_counted_end(uint64_t number, uint32_t function, uintptr_t address)
{
    const struct traced_key key = {function, iolens_region, address};
    if (iolens_active() && !iolens_paused())
        RECORDER(end(number, &key));
}

/* The one thread of a child of fork is in no call that its log knows. */
static void reset(void) { own.depth = 0; }

struct row {
    int64_t rank, calls, value, throttled;
    double time_enabled, time_running;
    uint32_t region;
    int32_t node;
    char group[TRACED_GROUP_BYTES], function[TRACED_NAME_BYTES];
    char event[COUNTER_NAME_BYTES], unavailable[PERF_REASON_BYTES];
};

static const struct column COLUMNS[] = {
    MERGED(rank, "<i8", "rank", "the rank; -1: several", COLUMN_RANK),
    {"group", "S16", "", "as in `traced`", offsetof(struct row, group), TRACED_GROUP_BYTES, COLUMN_KEY,
     TEXT_WORD},
    {"function", "S64", "", "as in `traced`", offsetof(struct row, function), TRACED_NAME_BYTES, COLUMN_KEY,
     TEXT_WORD},
    MERGED(region, "<u4", "region", "as in `traced`", COLUMN_KEY),
    MERGED(node, "<i4", "node", "as in `traced`", COLUMN_KEY),
    {"event", "S64", "", "as in `counters`", offsetof(struct row, event), COUNTER_NAME_BYTES, COLUMN_KEY,
     TEXT_WORD},
    MERGED(calls, "<i8", "calls",
           "calls of `traced` in which it was counted; 0: `value` is no count, and `unavailable` says why",
           COLUMN_SUM),
    MERGED(value, "<i8", "",
           "the count in all of these, what they called included, to be multiplied with time_enabled / "
           "time_running where counters took turns; ns of task-clock",
           COLUMN_SUM),
    MERGED(time_enabled, "<f8", "s", "time in which it was to be counted", COLUMN_SUM),
    MERGED(time_running, "<f8", "s", "time in which it was", COLUMN_SUM),
    MERGED(
        throttled, "<i8", "ranks",
        "where counters were read in the first `calls` calls alone, since reading took more than a tenth of "
        "the time in them (asked every 10000 calls), or `traced` counts no more either",
        COLUMN_SUM),
    TEXT(unavailable, "S96", "why there is no count", TEXT_WORD),
};

static void put_one(struct buffer *rows, const struct sums *sums, int at, struct row row)
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

static void put_rows(struct buffer *rows, const struct traced_key *key, const struct sums *sums, int rank)
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

static int64_t iolens_traced_troubles[TROUBLES];
static char iolens_traced_remark[REMARK_BYTES];

static void count(int rank)
{
    const struct state *state = table_state_known(TABLE_traced_counters);
    (void)rank;
    for (int i = 0; i < TROUBLES; i++)
        iolens_traced_troubles[i] = state ? state->troubles[i] : 0;
}

static void collect(const struct iolens_transport *transport, struct buffer *rows)
{
    const int64_t *troubles = iolens_traced_troubles;
    struct state *state = table_state_known(TABLE_traced_counters);
    for (struct keyed_row *at = state ? keyed_first(&state->rows) : NULL; at; at = keyed_next(at))
        put_rows(rows, keyed_key(at), keyed_value(at, &SHAPE), transport->rank);
    table_fold(&table_traced_counters, rows);
    *iolens_traced_remark = '\0';
    if (troubles[TOO_DEEP] + troubles[CUT] > 0)
        snprintf(iolens_traced_remark, REMARK_BYTES,
                 "Counters of traced functions leave out %lld call(s) more than %d deep and %lld in which "
                 "recording was switched, or that one left by a jump called.",
                 (long long)troubles[TOO_DEEP], DEEPEST, (long long)troubles[CUT]);
}

static const char *remark(void) { return *iolens_traced_remark ? iolens_traced_remark : NULL; }

static int64_t weight(const void *row) { return (int64_t)(((const struct row *)row)->time_enabled * 1e9); }

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
    keyed_validate(&((struct state *)memory)->rows, &SHAPE, area, NULL);
    return true;
}

static int64_t most_rows(void)
{
    const struct state *state = table_state_known(TABLE_traced_counters);
    return state ? counters_number() * keyed_made(&state->rows) : 0;
}

const struct process_table table_traced_counters = {
    .name = "traced_counters",
    .meaning =
        "What the kernel and the processor counted in the calls of traced functions, in the threads that "
        "called them, where both was asked for",
    TABLE_ROWS(COLUMNS),
    .state_bytes = sizeof(struct state),
    .validate = validate,
    .reset = reset,
    .on_demand = true,
    .state_of = TABLE_traced_counters,
    .count = count,
    .sums = iolens_traced_troubles,
    .sum_count = TROUBLES,
    .collect = collect,
    .remark = remark,
    .weight = weight,
    .rest = rest,
    .rest_slots = COUNTER_PLACES,
    .most_rows = most_rows,
};
