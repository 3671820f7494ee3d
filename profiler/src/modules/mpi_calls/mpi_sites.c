#include "../../callers/call_nodes.h"
#include "../../runtime/thread_room.h"
#include "../../runtime/wrap.h"
#include "../../spool/spool.h"
#include "../../tables/process_table.h"
#include "mpi_calls.h"

enum { MOST_SITES = 65536, SEEN = 256, TRIALS = 5, TRIAL_CALLS = 200 };

/* One entry of a thread's cache: the row of a recent call. */
struct seen {
    uintptr_t caller;
    uint32_t function, region;
    struct mpi_site *site;
};

/* The private memory of a thread. */
struct own {
    const void *store; /* The table to which `seen` points; a child of fork has another table. */
    double beat;       /* Time of the next update of the spool's end of recording. */
    double rare;       /* Time from which on a call must do more than count itself (see do_more); 0 if every
                        * call must. */
    struct mpi_pending pending;
    void *seen; /* Array of SEEN entries; NULL until it is allocated. */
};
static __thread struct own own __attribute__((tls_model("initial-exec")));
static struct thread_rooms iolens_sites_seen = {.bytes = SEEN * sizeof(struct seen)};

/* mpi_sites_shape limits the number of rows for call sites. The rows of whole functions have no limit,
 * because there are few of them. */
const struct keyed_shape mpi_sites_shape = {sizeof(struct mpi_site_key), sizeof(struct mpi_site), MOST_SITES,
                                            false, NULL};
static const struct keyed_shape unbounded = {sizeof(struct mpi_site_key), sizeof(struct mpi_site), UINT64_MAX,
                                             false, NULL};

static int iolens_callers; /* Depth of the recorded call chains. */
static unsigned iolens_mpi_traced;
static double iolens_mpi_recording; /* Seconds that recording a call takes; 0: not measured. */

/* The kind of bytes that APMPI counts for each function. */
static const uint8_t MOVES[IOLENS_MPI_FUNCTIONS] = {
#define APMPI_BYTES(moves, name)  [IOLENS_MPI_##name] = APMPI_##moves,
#define APMPI_SYNCED(moves, name) [IOLENS_MPI_##name] = APMPI_##moves,
#define APMPI_CALLS(name)
#define APMPI_BARRIER(name)
#include "apmpi.def"
#undef APMPI_BYTES
#undef APMPI_SYNCED
#undef APMPI_CALLS
#undef APMPI_BARRIER
};

static bool has_word(const char *list, const char *word)
{
    size_t length = strlen(word);
    while (*list) {
        size_t part = strcspn(list, ",");
        if (part == length && memcmp(list, word, length) == 0)
            return true;
        list += part + (list[part] == ',');
    }
    return false;
}

void mpi_sites_start(void)
{
    int64_t callers = 1;
    if (!settings_number(iolens.settings.callers, 0, CHAIN_MOST, &callers))
        iolens_say("IOLENS_CALLERS=%s is not a depth of call chains from 0 to %d, so 1 caller is recorded",
                   iolens.settings.callers, CHAIN_MOST);
    iolens_callers = (int)callers;
    iolens_mpi_traced = 0;
    if (!has_word(iolens.settings.trace, "mpi"))
        return;
    if (iolens_callers > 0)
        chains_start();
    iolens_mpi_traced = IOLENS_MPI_CALLS;
    iolens_mpi_traced |= settings_true(iolens.settings.mpi_sync) ? IOLENS_MPI_SYNC : 0u;
    iolens_mpi_traced |= settings_true(iolens.settings.late_receives) ? IOLENS_MPI_LATE_RECEIVES : 0u;
    iolens_mpi_traced |= why_wanted() ? IOLENS_MPI_WHY : 0u;
}

IOLENS_EXPORT unsigned iolens_mpi_tracing(void) { return iolens_active() ? iolens_mpi_traced : 0; }

static void add_message(int64_t bytes)
{
    own.pending.size = mpi_size_class(bytes);
    own.pending.messages++;
    own.pending.sizes[own.pending.size]++;
}

IOLENS_EXPORT void iolens_mpi_sent(int peer, int64_t bytes)
{
    add_message(bytes);
    own.pending.sent += bytes;
    own.pending.peer = peer;
    mpi_peer_add(peer, bytes, MPI_WAY_SENT);
}

IOLENS_EXPORT void iolens_mpi_received(int peer, int64_t bytes)
{
    own.pending.received += bytes;
    own.pending.peer = peer;
    mpi_peer_add(peer, bytes, MPI_WAY_RECEIVED);
}

/* Adds a message that this rank fetched from a window. The other rank makes no call for it, so this rank
 * counts the message. */
IOLENS_EXPORT void iolens_mpi_got(int peer, int64_t bytes)
{
    add_message(bytes);
    own.pending.received += bytes;
    own.pending.peer = peer;
    mpi_peer_add(peer, bytes, MPI_WAY_GOT);
}

IOLENS_EXPORT void iolens_mpi_posted(int64_t bytes) { own.pending.posted += bytes; }

/* Adds the bytes of a collective call. A contribution counts as a message if it is not empty. */
IOLENS_EXPORT void iolens_mpi_volume(int64_t sent, int64_t received)
{
    if (sent > 0)
        add_message(sent);
    own.pending.sent += sent > 0 ? sent : 0;
    own.pending.received += received;
    own.pending.peer = -1;
}

IOLENS_EXPORT void iolens_mpi_late(void) { own.pending.late++; }

IOLENS_EXPORT void iolens_mpi_sync(double seconds) { own.pending.sync += seconds; }

static struct mpi_site *make_site(struct keyed *store, const struct iolens_mpi_call *call, uintptr_t caller)
{
    struct mpi_site_key key = {.function = call->function, .region = iolens_region, .thread = thread_slot()};
    key.node = iolens_callers > 0 ? chain_node(caller, iolens_callers) : CALL_NODE_NONE;
    struct keyed_row *row = keyed_find(store, &mpi_sites_shape, &key);
    key.node = CALL_NODE_OTHER;
    row = row ? row : keyed_find(store, &unbounded, &key);
    return row ? keyed_value(row, &mpi_sites_shape) : NULL;
}

/* Returns the cache entry for a call, or NULL if allocation fails. */
static struct seen *seen_at(const struct keyed *store, size_t hash)
{
    struct seen *seen = own.seen ? own.seen : thread_room(&iolens_sites_seen, &own.seen);
    if (__builtin_expect(own.store != store, 0)) {
        if (seen)
            memset(seen, 0, iolens_sites_seen.bytes);
        own.store = store;
    }
    return seen ? &seen[hash % SEEN] : NULL;
}

/* Returns the counts of the place that made a call. A cache is used if only one caller is recorded; with
 * longer call chains the outer callers may differ at each call. */
static struct mpi_site *site_of(struct keyed *store, const struct iolens_mpi_call *call)
{
    uintptr_t caller = iolens_callers == 1 ? chain_program(call->caller) : call->caller;
    struct seen *seen =
        seen_at(store, (caller ^ caller >> 9) + 31 * (size_t)call->function + 7 * (size_t)iolens_region);
    if (seen && iolens_callers <= 1 && seen->caller == caller && seen->function == call->function &&
        seen->region == iolens_region && seen->site)
        return seen->site;
    iolens_busy = true;
    struct mpi_site *site = make_site(store, call, caller);
    iolens_busy = false;
    if (seen)
        *seen = (struct seen){caller, call->function, iolens_region, site};
    return site;
}

static void add_pending(struct mpi_site *site, struct mpi_pending *pending)
{
    site->sent += pending->sent;
    site->received += pending->received;
    site->messages += pending->messages;
    site->late += pending->late;
    site->sync += pending->sync;
    if (pending->messages == 1)
        site->sizes[pending->size]++;
    for (int i = 0; pending->messages > 1 && i < MPI_SIZES; i++)
        site->sizes[i] += pending->sizes[i];
}

static void add_moved(struct mpi_site *site, const struct mpi_pending *pending, unsigned moves)
{
    int64_t moved = (moves & APMPI_SENT ? pending->sent : 0) +
                    (moves & APMPI_RECEIVED ? pending->received : 0) +
                    (moves & APMPI_POSTED ? pending->posted : 0);
    site->moved += moved;
    site->moved_sizes[apmpi_size_class(moved)]++;
}

static void clear_pending(struct mpi_pending *pending)
{
    if (pending->messages == 1)
        pending->sizes[pending->size] = 0;
    else if (pending->messages > 1)
        memset(pending->sizes, 0, sizeof pending->sizes);
    pending->sent = pending->received = pending->posted = pending->messages = pending->late = 0;
    pending->sync = 0;
}

/* Keeps the event of a call if the user asked for a time line, and from time to time tells the spool that the
 * process lives. Is called rarely, so that most calls skip these tests. */
static void do_more(const struct iolens_mpi_call *call, bool counted)
{
    iolens_busy = true;
    const struct mpi_pending *said = &own.pending;
    bool spoke = said->messages > 0 || said->received > 0;
    if (counted && mpi_events_wanted())
        mpi_event_keep(call, said->sent > 0 ? said->sent : said->received, spoke ? said->peer : -1);
    if (call->t1 >= own.beat) {
        own.beat = call->t1 + SECONDS_BETWEEN_BEATS;
        spool_beat();
    }
    own.rare = mpi_events_wanted() ? 0 : own.beat;
    iolens_busy = false;
}

static inline void add_call(struct mpi_site *site, const struct iolens_mpi_call *call)
{
    double seconds = call->t1 - call->t0;
    site->min_time = site->calls == 0 || seconds < site->min_time ? seconds : site->min_time;
    site->max_time = seconds > site->max_time ? seconds : site->max_time;
    site->time += seconds;
    add_pending(site, &own.pending);
    if (MOVES[call->function])
        add_moved(site, &own.pending, MOVES[call->function]);
    site->calls++;
}

IOLENS_EXPORT void iolens_mpi_call(const struct iolens_mpi_call *call)
{
    struct keyed *store = table_state(TABLE_mpi_sites);
    struct mpi_site *site = store && iolens_active() && !iolens_paused() ? site_of(store, call) : NULL;
    if (site)
        add_call(site, call);
    if (call->t1 >= own.rare)
        do_more(call, site != NULL);
    clear_pending(&own.pending);
}

/* Records calls that take no time into a discarded row, to measure how long recording takes. */
static double trial(struct keyed *store, struct iolens_mpi_call call)
{
    struct mpi_site nowhere = {0};
    double begin = clock_now(&iolens.clock);
    for (int i = 0; i < TRIAL_CALLS; i++) {
        call.t0 = clock_now(&iolens.clock);
        call.t1 = clock_now(&iolens.clock);
        if (site_of(store, &call))
            add_call(&nowhere, &call);
        clear_pending(&own.pending);
    }
    return (clock_now(&iolens.clock) - begin) / TRIAL_CALLS;
}

/* Measures with a call whose row is in the cache of this thread, so that the trials add no row. The shortest
 * of several trials counts, because another process may have the core in the others. */
void mpi_sites_end(void)
{
    struct keyed *store = table_state_known(TABLE_mpi_sites);
    const struct seen *seen = own.store == store ? own.seen : NULL;
    iolens_mpi_recording = 0;
    for (int at = 0; store && seen && iolens_callers <= 1 && at < SEEN; at++) {
        if (!seen[at].site || seen[at].region != iolens_region)
            continue;
        for (int i = 0; i < TRIALS; i++) {
            const struct iolens_mpi_call call = {.function = seen[at].function, .caller = seen[at].caller};
            double seconds = trial(store, call);
            if (i == 0 || seconds < iolens_mpi_recording)
                iolens_mpi_recording = seconds;
        }
        return;
    }
}

double mpi_sites_recording(int64_t calls)
{
    return iolens_mpi_recording > 0 ? (double)calls * iolens_mpi_recording : NAN;
}

struct keyed_row *mpi_sites_first(const void *state) { return state ? keyed_first(state) : NULL; }

const struct mpi_site *mpi_site_of(struct keyed_row *row) { return keyed_value(row, &mpi_sites_shape); }

bool mpi_site_is_sound(const void *key, const void *value)
{
    const struct mpi_site *site = value;
    return ((const struct mpi_site_key *)key)->function < IOLENS_MPI_FUNCTIONS &&
           is_measured_time(site->time) && is_measured_time(site->min_time) &&
           is_measured_time(site->max_time) && is_measured_time(site->sync);
}
