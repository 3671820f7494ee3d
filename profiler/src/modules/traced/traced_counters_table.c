/* The table `traced_counters`: counter values inside calls of traced functions. */
#include <signal.h>
#include <stdio.h>

#include "../../callers/call_nodes.h"
#include "../../memory/area.h"
#include "../../runtime/thread_room.h"
#include "../../runtime/wrap.h"
#include "../../system/large_room.h"
#include "../../system/system_call.h"
#include "../../tables/table_merge.h"
#include "../counters/process_counters.h"
#include "../region_names.h"
#include "traced_functions.h"

/* Counters of single calls of traced functions. The counters are read at a call's start and end,
 * and the differences are added up by function and region.
 *
 * A thread keeps the values that it read at the start of each unfinished call. A call may be left without an
 * end, by longjmp or in a forked child. It is recognised when a later call begins farther up the stack, in
 * memory that the unfinished call would still use. Calls whose end is not certain are not counted. */

enum { TRACED_DEEPEST = 64 }; /* Deepest nesting of calls in a thread for which counters are read. */

/* Sums over all threads. Each counter has its own number of `calls`, because it may exist in some threads
 * only. */
struct traced_sums {
    _Atomic int64_t calls, reading_ns, inside_ns;
    _Atomic int64_t of[COUNTERS_MOST], value[COUNTERS_MOST], enabled[COUNTERS_MOST], running[COUNTERS_MOST];
    _Atomic uint32_t node, throttled;
};

/* Counts calls for which counters could not be read. */
enum traced_trouble { TRACED_TOO_DEEP, TRACED_CUT, TRACED_TROUBLES };

/* The state of the table `traced_counters`: its rows have a struct traced_key and a struct traced_sums. */
struct traced_counters_state {
    struct keyed rows;
    _Atomic int64_t troubles[TRACED_TROUBLES];
};

enum { MOST_ROWS = 16384, PLACE_BITS = 8, THROTTLE_CALLS = 10000, THROTTLE_SHARE = 10 };

_Static_assert(TRACED_DEEPEST < 1 << PLACE_BITS, "PLACE_BITS must have room for the number of every place");

static const struct keyed_shape traced_sums_shape = {.key_bytes = sizeof(struct traced_key),
                                                     .value_bytes = sizeof(struct traced_sums),
                                                     .most = MOST_ROWS,
                                                     .in_handlers = true};

/* A call that has begun and not ended yet. */
struct begun {
    uint64_t number;
    uintptr_t frame;
    uint32_t epoch;
    double before, after; /* `before` and `after`: times at which reading the counters at the start of the
                             call began and ended. */
    struct counts counts;
};

struct calls {
    struct begun begun[TRACED_DEEPEST];
};

/* Array by thread_slot; several threads may share the last slot. The memory of an ended thread is reused. */
static struct calls *iolens_traced_calls[SLOTS_MOST - 1] LARGE_ROOM;

/* Calls that this thread has begun and not ended, and the slot whose memory they use. */
static __thread struct {
    uint64_t last;
    uint32_t depth, slot;
} own __attribute__((tls_model("initial-exec")));

static void note(enum traced_trouble trouble)
{
    struct traced_counters_state *state = table_state(TABLE_traced_counters);
    if (state)
        atomic_fetch_add_explicit(&state->troubles[trouble], 1, memory_order_relaxed);
}

static struct traced_sums *sums_of(const struct traced_key *key)
{
    struct traced_counters_state *state = table_state(TABLE_traced_counters);
    struct keyed_row *row = state ? keyed_find(&state->rows, &traced_sums_shape, key) : NULL;
    return row ? keyed_value(row, &traced_sums_shape) : NULL;
}

/* Allocates the memory for the open calls of a thread, writes to every page and reads the counters once, so
 * that no traced call pays for these first times. */
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

static bool is_throttled(const struct traced_key *key, struct traced_sums *sums)
{
    if (!sums->throttled && traced_throttled(key))
        sums->throttled = 1;
    return sums->throttled;
}

/* Returns true in a signal handler with a stack of its own, whose addresses cannot be compared with those of
 * the thread's stack. */
static bool on_signal_stack(void)
{
    stack_t signals;
    return system_call(SYS_sigaltstack, NULL, &signals) == 0 && (signals.ss_flags & SS_ONSTACK);
}

/* Forgets calls whose part of the stack is in use again. If there is no room for one more call, also forgets
 * calls with the same frame address: the program may have left them, or the compiler may have inlined the new
 * function into them. */
static void forget_left(const struct calls *calls, uintptr_t frame)
{
    uintptr_t most = frame - (own.depth < TRACED_DEEPEST);
    if (own.depth == 0 || calls->begun[own.depth - 1].frame > most || on_signal_stack())
        return;
    while (own.depth > 0 && calls->begun[own.depth - 1].frame <= most)
        own.depth--;
}

static uint64_t begin(const struct traced_key *key, uintptr_t frame)
{
    struct traced_sums *sums = sums_of(key);
    struct calls *calls = sums && !is_throttled(key, sums) ? calls_of_thread() : NULL;
    if (!calls)
        return 0;
    forget_left(calls, frame);
    if (own.depth == TRACED_DEEPEST) {
        note(TRACED_TOO_DEEP);
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

/* Adds the difference of two readings to the sums. The difference may be negative if the program closed a
 * counter in between. */
static void add(struct traced_sums *sums, const struct counts *begin, const struct counts *end)
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

static int64_t ns(double seconds) { return clock_ns_of(seconds); }

/* Notes how long reading the counters took, and stops reading them if that is too large a part of the
 * measured time. */
static void count_reading(struct traced_sums *sums, double reading, double inside)
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
    struct traced_sums *sums = begun ? sums_of(key) : NULL;
    if (!begun)
        note(TRACED_CUT);
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

/* Forgets all open calls in a child of fork, whose only thread starts outside all traced calls. */
static void traced_counters_reset(void) { own.depth = 0; }

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
