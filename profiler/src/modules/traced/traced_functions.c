/* Times of traced functions: those that the libraries in src/trace wrap, and the program's own if it was
 * compiled for that. */
#include "traced_functions.h"

#include <link.h>
#include <stdio.h>
#include <stdlib.h>

#include "../../callers/call_nodes.h"
#include "../../runtime/thread_room.h"
#include "../../runtime/wrap.h"
#include "../../spool/spool.h"
#include "../../system/large_room.h"
#include "../../tables/table_merge.h"
#include "../counters/process_counters.h"
#include "../region_names.h"

/* Chooses which of the program's own functions are timed: those in IOLENS_TRACE_FUNCTIONS, or all. */

enum { MOST_CHOSEN = 1024 };

static struct {
    bool given;
    size_t number;
    uintptr_t address[MOST_CHOSEN];
} iolens_chosen LARGE_ROOM;

/* One function that the user named: the name of the object file (empty for the program itself) and the
 * address in it. */
struct chosen {
    const char *name;
    size_t length;
    uintptr_t offset;
};

static int add_if_in(struct dl_phdr_info *info, size_t size, void *context)
{
    const struct chosen *chosen = context;
    const char *slash = strrchr(info->dlpi_name, '/'), *name = slash ? slash + 1 : info->dlpi_name;
    (void)size;
    if (strlen(name) != chosen->length || strncmp(name, chosen->name, chosen->length) != 0)
        return 0;
    if (iolens_chosen.number < MOST_CHOSEN)
        iolens_chosen.address[iolens_chosen.number++] = info->dlpi_addr + chosen->offset;
    return 1;
}

static int compare(const void *a, const void *b)
{
    uintptr_t x = *(const uintptr_t *)a, y = *(const uintptr_t *)b;
    return (x > y) - (x < y);
}

/* Reads `setting`: OBJECT:ADDRESS,... where OBJECT is the name of a loaded file (empty: the program) and
 * ADDRESS a hexadecimal address in that file, as `nm` prints it. Files that are loaded later are ignored. */
static void traced_choice_read(const char *setting)
{
    iolens_chosen.given = *setting != '\0';
    for (const char *at = setting; *at;) {
        const char *end = strchrnul(at, ','), *colon = memchr(at, ':', (size_t)(end - at));
        struct chosen chosen = {at, colon ? (size_t)(colon - at) : 0,
                                colon ? strtoull(colon + 1, NULL, 16) : 0};
        if (colon)
            dl_iterate_phdr(add_if_in, &chosen);
        at = *end ? end + 1 : end;
    }
    qsort(iolens_chosen.address, iolens_chosen.number, sizeof *iolens_chosen.address, compare);
}

static bool traced_choice_holds(uintptr_t function)
{
    return !iolens_chosen.given || bsearch(&function, iolens_chosen.address, iolens_chosen.number,
                                           sizeof *iolens_chosen.address, compare) != NULL;
}

enum { MOST_NAMES = 4096, MOST_ROWS = 65536, THROTTLE_CALLS = 100000, THROTTLE_NS = 10000 };

enum { TRIALS = 5, TRIAL_CALLS = 200 };

struct calls {
    _Atomic int64_t calls, ns, exclusive_ns, bytes;
    _Atomic uint32_t node, throttled;
};

struct state {
    struct keyed names, rows;
    double recording; /* Seconds that recording one call takes in this process; 0: not measured. */
};

static const struct keyed_shape NAMES = {.key_bytes = sizeof(uint64_t),
                                         .value_bytes = sizeof(struct traced_name),
                                         .most = MOST_NAMES,
                                         .in_handlers = true};
static const struct keyed_shape ROWS = {.key_bytes = sizeof(struct traced_key),
                                        .value_bytes = sizeof(struct calls),
                                        .most = MOST_ROWS,
                                        .in_handlers = true};

/* Names of the traced functions: the entry of a function is its number minus one. The names survive a fork,
 * because the libraries keep the numbers of their functions. */
static struct {
    atomic_uint used;
    struct traced_name name[MOST_NAMES];
} iolens_traced_names LARGE_ROOM;

static uint32_t number_of(const char *group, const char *function)
{
    uint32_t at = atomic_fetch_add(&iolens_traced_names.used, 1);
    if (at >= MOST_NAMES)
        return TRACED_OWN;
    snprintf(iolens_traced_names.name[at].group, TRACED_GROUP_BYTES, "%s", group);
    snprintf(iolens_traced_names.name[at].function, TRACED_NAME_BYTES, "%s", function);
    return at + 1;
}

/* Stores the name in the spool, where `iolens recover` finds it. */
static void note_name(struct state *state, uint64_t function)
{
    struct keyed_row *row = keyed_find(&state->names, &NAMES, &function);
    if (row)
        memcpy(keyed_value(row, &NAMES), &iolens_traced_names.name[function - 1], sizeof(struct traced_name));
}

static struct calls *row_at(const struct traced_key *key)
{
    struct state *state = table_state(TABLE_traced);
    struct keyed_row *row = state ? keyed_find(&state->rows, &ROWS, key) : NULL;
    struct calls *calls = row ? keyed_value(row, &ROWS) : NULL;
    if (calls && calls->calls == 0 && key->function != TRACED_OWN)
        note_name(state, key->function);
    return calls;
}

static struct calls *row_of(uint32_t function, uint64_t address)
{
    return row_at(&(struct traced_key){function, iolens_region, address});
}

bool traced_throttled(const struct traced_key *key)
{
    const struct calls *calls = row_at(key);
    return calls && calls->throttled;
}

static int64_t ns(double seconds) { return clock_ns_of(seconds); }

static void grow(_Atomic int64_t *sum, int64_t by)
{
    atomic_fetch_add_explicit(sum, by, memory_order_relaxed);
}

IOLENS_EXPORT double iolens_spent(void) { return iolens_spent_time; }

IOLENS_EXPORT void iolens_spend(double before, double seconds) { iolens_spent_time = before + seconds; }

/* Adds a call. `spent` is the time that the thread had spent in timed calls when this call began. Whatever
 * was added to it since belongs to calls inside this one, and the time of this call takes its place. */
static void add(struct calls *calls, double seconds, double spent, bool outermost)
{
    double within = iolens_spent_time - spent;
    grow(&calls->calls, 1);
    grow(&calls->ns, outermost ? ns(seconds) : 0);
    grow(&calls->exclusive_ns, ns(seconds > within ? seconds - within : 0));
    iolens_spend(spent, seconds > within ? seconds : within);
}

IOLENS_EXPORT unsigned iolens_tracing(void)
{
    return iolens_active() && !iolens_paused() ? iolens_counters_tracing : 0;
}

IOLENS_EXPORT uint32_t iolens_traced_function(const char *group, const char *name)
{
    uint32_t number = TRACED_OWN;
    if (iolens_active())
        RECORDER(number = number_of(group, name));
    return number;
}

static void add_traced(uint32_t function, double seconds, int64_t bytes, double spent)
{
    struct calls *calls = row_of(function, 0);
    if (!calls)
        return;
    add(calls, seconds, spent, true);
    if (bytes)
        grow(&calls->bytes, bytes);
}

static _Atomic double iolens_traced_beat; /* Time of the next update of the records in the spool. */

/* Updates the records in the spool from time to time, because a process that makes only traced calls may be
 * killed. */
static void give_sign_of_life(double now)
{
    if (now < atomic_load_explicit(&iolens_traced_beat, memory_order_relaxed))
        return;
    atomic_store_explicit(&iolens_traced_beat, now + SECONDS_BETWEEN_BEATS, memory_order_relaxed);
    spool_beat();
}

/* Lets the first traced call in a child of fork update the spool at once, because the child's clock begins at
 * 0 again. */
static void reset(void) { iolens_traced_beat = 0; }

static void record(uint32_t function, double t0, double t1, int64_t bytes, double spent)
{
    add_traced(function, t1 - t0, bytes, spent);
    give_sign_of_life(t1);
}

IOLENS_EXPORT void iolens_traced(uint32_t function, double t0, double t1, int64_t bytes, double spent)
{
    if (iolens_active() && !iolens_paused())
        RECORDER(record(function, t0, t1, bytes, spent));
}

/* Returns true for a short function that is called often, because timing it mostly measures the timing
 * itself. TAU throttles such functions by the same two limits. */
static bool is_tiny(const struct calls *calls)
{
    return calls->calls >= THROTTLE_CALLS && calls->ns / calls->calls < THROTTLE_NS;
}

static void add_called(const struct iolens_called *call, double t1, bool outermost)
{
    struct calls *calls = row_of(TRACED_OWN, call->function);
    if (!calls || calls->throttled)
        return;
    if (calls->calls == 0)
        calls->node = call_node(CALL_NODE_NONE, call->function, true);
    add(calls, t1 - call->t0, call->spent, outermost);
    if (calls->calls % THROTTLE_CALLS == 0 && is_tiny(calls))
        calls->throttled = 1;
}

static void start(void) { traced_choice_read(iolens.settings.trace_functions); }

IOLENS_EXPORT bool iolens_called_wanted(uintptr_t function) { return traced_choice_holds(function); }

IOLENS_EXPORT void iolens_called(const struct iolens_called *call, double t1, bool outermost)
{
    if (iolens_active() && !iolens_paused())
        RECORDER(add_called(call, t1, outermost));
}

static struct thread_rooms iolens_called_rooms;

/* Returns memory for a thread's calls. All its pages have been written to, because a page fault inside a
 * function would count as the function's own time. Returns NULL in a signal handler that interrupted the
 * recorder, which may hold a lock. */
IOLENS_EXPORT void *iolens_called_room(size_t bytes, void **mine)
{
    if (!iolens_active() || iolens_busy)
        return NULL;
    iolens_called_rooms.bytes = bytes;
    void *room = thread_room(&iolens_called_rooms, mine);
    return room ? memset(room, 0, bytes) : NULL;
}

static void (*iolens_close_calls)(void);

IOLENS_EXPORT void iolens_called_close(void (*close)(void)) { iolens_close_calls = close; }

/* Returns the mean seconds that recording a call takes. Records empty calls into a discarded row, nearly as
 * trace_enter and trace_leave do; only the variable iolens_busy is not set and cleared. */
static double trial(const struct traced_key *key)
{
    struct calls nowhere = {0};
    double begin = clock_now(&iolens.clock);
    for (int i = 0; i < TRIAL_CALLS; i++) {
        double spent = iolens_spent(), t0 = clock_now(&iolens.clock), t1 = clock_now(&iolens.clock);
        if (row_at(key))
            add(&nowhere, t1 - t0, spent, true);
    }
    return (clock_now(&iolens.clock) - begin) / TRIAL_CALLS;
}

/* Uses the shortest of several trials, because another process may have used the core in the others. */
static void measure_recording(struct state *state)
{
    struct keyed_row *any = keyed_first(&state->rows);
    double spent = iolens_spent_time;
    for (int i = 0; any && i < TRIALS; i++) {
        double seconds = trial(keyed_key(any));
        if (i == 0 || seconds < state->recording)
            state->recording = seconds;
    }
    iolens_spend(spent, 0);
}

static void end(void)
{
    struct state *state = table_state_known(TABLE_traced);
    if (iolens_close_calls)
        iolens_close_calls();
    if (state)
        measure_recording(state);
}

struct row {
    int64_t rank, calls, bytes, throttled;
    double time, exclusive, recording;
    uint32_t region;
    int32_t node;
    char group[TRACED_GROUP_BYTES], function[TRACED_NAME_BYTES];
};

static const struct column COLUMNS[] = {
    MERGED(rank, "<i8", "rank", "the rank; -1: several ranks", COLUMN_RANK),
    {"group", "S16", "",
     "the group of functions (`iolens run --list-groups`); `functions` is the group of the program's own "
     "functions",
     offsetof(struct row, group), TRACED_GROUP_BYTES, COLUMN_KEY, TEXT_WORD},
    {"function", "S64", "",
     "name of the function; empty for a function of the program's own, which `node` identifies",
     offsetof(struct row, function), TRACED_NAME_BYTES, COLUMN_KEY, TEXT_WORD},
    MERGED(region, "<u4", "region",
           "the region of the call, a row of `region_names`; 0xffffffff: several regions", COLUMN_KEY),
    MERGED(node, "<i4", "node",
           "the start of a function of the program's own, a row of `call_nodes`; -1: a function of a library",
           COLUMN_KEY),
    MERGED(calls, "<i8", "calls", "calls from outside the group; for the program's own functions, all calls",
           COLUMN_SUM),
    MERGED(time, "<f8", "s",
           "time in these calls, inner calls included; a recursive call counts in the time of the outermost "
           "call of the same function",
           COLUMN_SUM),
    MERGED(exclusive, "<f8", "s",
           "time in these calls without inner calls whose time the log has: calls of traced functions, of "
           "MPI where it is traced, and calls on files",
           COLUMN_SUM),
    MERGED(recording, "<f8", "s",
           "lower bound of the time that recording these calls took: their number times the shortest "
           "measured time of recording one, without reading counters; NaN: not measured, because the "
           "process was killed",
           COLUMN_SUM),
    MERGED(bytes, "<i8", "B", "for the group heap, bytes that were allocated", COLUMN_SUM),
    MERGED(throttled, "<i8", "ranks",
           "number of ranks where timing ended after 100000 calls that took less than 10 us each on average",
           COLUMN_SUM),
};

const struct traced_name *traced_name_of(uint32_t function)
{
    static const struct traced_name OWN = {"functions", ""}, LOST = {"", ""};
    const struct state *state = table_state_known(TABLE_traced);
    for (struct keyed_row *row = state ? keyed_first(&state->names) : NULL; row; row = keyed_next(row))
        if (*(const uint64_t *)keyed_key(row) == function)
            return keyed_value(row, &NAMES);
    return function == TRACED_OWN ? &OWN : &LOST;
}

extern const struct process_table table_traced;

static double recording_of(const struct state *state, int64_t calls)
{
    return state->recording > 0 ? (double)calls * state->recording * iolens.timeline.factor : NAN;
}

static void collect(const struct iolens_transport *transport, struct buffer *rows)
{
    struct state *state = table_state_known(TABLE_traced);
    for (struct keyed_row *at = state ? keyed_first(&state->rows) : NULL; at; at = keyed_next(at)) {
        const struct traced_key *key = keyed_key(at);
        const struct calls *calls = keyed_value(at, &ROWS);
        const struct traced_name *name = traced_name_of(key->function);
        struct row row = {.rank = transport->rank,
                          .region = key->region,
                          .node = key->function == TRACED_OWN ? call_node_written(calls->node) : -1,
                          .calls = calls->calls,
                          .bytes = calls->bytes,
                          .throttled = calls->throttled,
                          .recording = recording_of(state, calls->calls),
                          .time = 1e-9 * (double)calls->ns * iolens.timeline.factor,
                          .exclusive = 1e-9 * (double)calls->exclusive_ns * iolens.timeline.factor};
        memcpy(row.group, name->group, sizeof row.group);
        memcpy(row.function, name->function, sizeof row.function);
        if (row.calls > 0)
            buffer_put(rows, &row, sizeof row);
    }
    table_fold(&table_traced, rows);
}

static size_t rest(void *row)
{
    struct row *merged = row;
    merged->rank = -1;
    merged->region = REGION_RUN;
    merged->node = -2;
    memset(merged->group, 0, sizeof merged->group);
    memset(merged->function, 0, sizeof merged->function);
    return 0;
}

static bool validate(const void *memory, const struct area *area)
{
    struct state *state = (struct state *)memory;
    keyed_validate(&state->names, &NAMES, area, NULL);
    keyed_validate(&state->rows, &ROWS, area, NULL);
    if (!is_measured_time(state->recording))
        state->recording = 0;
    return true;
}

static int64_t most_rows(void)
{
    const struct state *state = table_state_known(TABLE_traced);
    return state ? keyed_made(&state->rows) : 0;
}

const struct process_table table_traced = {
    .name = "traced",
    .meaning = "Calls of a traced group of functions, or of the program's own functions where it was built "
               "with -finstrument-functions",
    TABLE_ROWS(COLUMNS),
    .recording.state_bytes = sizeof(struct state),
    .recording.validate = validate,
    .recording.start = start,
    .recording.end = end,
    .recording.reset = reset,
    .recording.matters_if_used = true,
    .merging.collect = collect,
    .merging.weighed_by = {"time"},
    .merging.rest = rest,
    .merging.rest_slots = 1,
    .merging.most_rows = most_rows,
};
