/* Counters of single calls of traced functions. The counters are read at a call's start and end,
 * and the differences are added up by function and region.
 *
 * A thread keeps the values that it read at the start of each unfinished call. A call may be left without an
 * end, by longjmp or in a forked child. It is recognised when a later call begins farther up the stack, in
 * memory that the unfinished call would still use. Calls whose end is not certain are not counted. */
#include "traced_counters.h"

#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

#include "../../callers/call_nodes.h"
#include "../../runtime/region.h"
#include "../../runtime/thread_room.h"
#include "../../runtime/wrap.h"
#include "../../system/large_room.h"
#include "../../system/system_call.h"
#include "../../tables/process_table.h"
#include "../counters/counter_names.h"
#include "../counters/process_counters.h"
#include "../counters/thread_counters.h"

enum { MOST_ROWS = 16384, PLACE_BITS = 8, THROTTLE_CALLS = 10000, THROTTLE_SHARE = 10 };

_Static_assert(TRACED_DEEPEST < 1 << PLACE_BITS, "PLACE_BITS must have room for the number of every place");

const struct keyed_shape traced_sums_shape = {.key_bytes = sizeof(struct traced_key),
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

void traced_counters_reset(void) { own.depth = 0; }
