#include "mpi_sites.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "../callers/call_nodes.h"
#include "../callers/chains.h"
#include "../memory/area.h"
#include "../runtime/context.h"
#include "../runtime/region.h"
#include "../runtime/thread_slot.h"
#include "../runtime/wrap.h"
#include "../spool/spool.h"
#include "../tables/process_table.h"
#include "../tables/table_merge.h"
#include "mpi_events.h"
#include "mpi_functions.h"
#include "mpi_peers.h"

enum { MOST_SITES = 65536, SEEN = 256 };

#define SECONDS_BETWEEN_BEATS 0.1

/* Where a thread finds the row of a call that it made lately. */
struct seen {
    uintptr_t caller;
    uint32_t function, region;
    struct mpi_site *site;
};

/* What a thread keeps for itself. */
struct own {
    const void *store; /* that `seen` points into; another one after fork */
    double beat;       /* when the next sign of life is due */
    double rare;       /* when more than counting is to be done for a call; 0: at each */
    struct mpi_pending pending;
    struct seen seen[SEEN];
};
static __thread struct own own __attribute__((tls_model("initial-exec")));

/* Rows of functions beyond the bound are found in spite of it: there are not many of them. */
static const struct keyed_shape bounded = {sizeof(struct mpi_site_key), sizeof(struct mpi_site), MOST_SITES,
                                           false, NULL};
static const struct keyed_shape unbounded = {sizeof(struct mpi_site_key), sizeof(struct mpi_site), UINT64_MAX,
                                             false, NULL};

static int iolens_callers; /* how many are told apart */
static unsigned iolens_mpi_traced;

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

static void start(void)
{
    char *end;
    errno = 0;
    long callers = strtol(iolens.settings.callers, &end, 10);
    iolens_callers = callers >= 0 && callers <= CHAIN_MOST && errno == 0 && *end == '\0' ? (int)callers : 1;
    iolens_mpi_traced = 0;
    if (!has_word(iolens.settings.trace, "mpi"))
        return;
    if (iolens_callers > 0)
        chains_start();
    iolens_mpi_traced = IOLENS_MPI_CALLS;
    iolens_mpi_traced |= settings_true(iolens.settings.mpi_sync) ? IOLENS_MPI_SYNC : 0u;
    iolens_mpi_traced |= settings_true(iolens.settings.late_receives) ? IOLENS_MPI_LATE_RECEIVES : 0u;
}

IOLENS_EXPORT unsigned iolens_mpi_tracing(void) { return iolens_active() ? iolens_mpi_traced : 0; }

static void add_message(int64_t bytes)
{
    own.pending.size = mpi_size_class(bytes);
    own.pending.messages++;
    own.pending.sent += bytes;
    own.pending.sizes[own.pending.size]++;
}

IOLENS_EXPORT void iolens_mpi_sent(int peer, int64_t bytes)
{
    add_message(bytes);
    own.pending.peer = peer;
    mpi_peer_add(peer, bytes, true);
}

IOLENS_EXPORT void iolens_mpi_received(int peer, int64_t bytes)
{
    own.pending.received += bytes;
    own.pending.peer = peer;
    mpi_peer_add(peer, bytes, false);
}

/* A contribution is a message where it is not empty. */
IOLENS_EXPORT void iolens_mpi_volume(int64_t sent, int64_t received)
{
    if (sent > 0)
        add_message(sent);
    own.pending.received += received;
    own.pending.peer = -1;
}

IOLENS_EXPORT void iolens_mpi_late(void) { own.pending.late++; }

IOLENS_EXPORT void iolens_mpi_sync(double seconds) { own.pending.sync += seconds; }

static struct mpi_site *make_site(struct keyed *store, const struct iolens_mpi_call *call, uintptr_t caller)
{
    struct mpi_site_key key = {.function = call->function, .region = iolens_region, .thread = thread_slot()};
    key.node = iolens_callers > 0 ? chain_node(caller, iolens_callers) : CALL_NODE_NONE;
    struct keyed_row *row = keyed_find(store, &bounded, &key);
    key.node = CALL_NODE_OTHER;
    row = row ? row : keyed_find(store, &unbounded, &key);
    return row ? keyed_value(row, &bounded) : NULL;
}

/* Farther callers may be others at each call, so that with them nothing is remembered here. */
static struct mpi_site *site_of(struct keyed *store, const struct iolens_mpi_call *call)
{
    if (__builtin_expect(own.store != store, 0)) {
        memset(own.seen, 0, sizeof own.seen);
        own.store = store;
    }
    uintptr_t caller = iolens_callers == 1 ? chain_program(call->caller) : call->caller;
    size_t hash = (caller ^ caller >> 9) + 31 * (size_t)call->function + 7 * (size_t)iolens_region;
    struct seen *seen = &own.seen[hash % SEEN];
    if (iolens_callers <= 1 && seen->caller == caller && seen->function == call->function &&
        seen->region == iolens_region && seen->site)
        return seen->site;
    iolens_busy = true;
    struct mpi_site *site = make_site(store, call, caller);
    iolens_busy = false;
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

static void clear_pending(struct mpi_pending *pending)
{
    if (pending->messages == 1)
        pending->sizes[pending->size] = 0;
    else if (pending->messages > 1)
        memset(pending->sizes, 0, sizeof pending->sizes);
    pending->sent = pending->received = pending->messages = pending->late = 0;
    pending->sync = 0;
}

/* What few calls need, or few programs: all others are spared the questions. */
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

IOLENS_EXPORT void iolens_mpi_call(const struct iolens_mpi_call *call)
{
    struct keyed *store = table_state(TABLE_mpi_sites);
    struct mpi_site *site = store && iolens_active() && !iolens_paused() ? site_of(store, call) : NULL;
    double seconds = call->t1 - call->t0;
    if (site) {
        site->min_time = site->calls == 0 || seconds < site->min_time ? seconds : site->min_time;
        site->max_time = seconds > site->max_time ? seconds : site->max_time;
        site->time += seconds;
        add_pending(site, &own.pending);
        site->calls++;
    }
    if (call->t1 >= own.rare)
        do_more(call, site != NULL);
    clear_pending(&own.pending);
}

struct keyed_row *mpi_sites_first(const void *state) { return state ? keyed_first(state) : NULL; }

const struct mpi_site *mpi_site_of(struct keyed_row *row) { return keyed_value(row, &bounded); }

static bool sound(const void *key, const void *value)
{
    const struct mpi_site *site = value;
    return ((const struct mpi_site_key *)key)->function < IOLENS_MPI_FUNCTIONS &&
           is_measured_time(site->time) && is_measured_time(site->min_time) &&
           is_measured_time(site->max_time) && is_measured_time(site->sync);
}

static bool validate(const void *state, const struct area *area)
{
    keyed_validate((struct keyed *)state, &bounded, area, sound);
    return true;
}

struct row {
    int64_t rank;
    char function[48];
    uint32_t region;
    int32_t node;
    int64_t calls;
    double time, min_time, max_time;
    int64_t bytes_sent, bytes_received, messages, size[MPI_SIZES];
};

#define SIZE(class, meaning)                                                                                 \
    {                                                                                                        \
        "size_" #class, "<i8", "messages", meaning, offsetof(struct row, size[class]), sizeof(int64_t),      \
            COLUMN_SUM, TEXT_NONE                                                                            \
    }

static const struct column COLUMNS[] = {
    MERGED(rank, "<i8", "rank", "the rank that called; -1: several", COLUMN_RANK),
    {"function", "S48", "", "the function's name", offsetof(struct row, function), 48, COLUMN_KEY, TEXT_WORD},
    MERGED(region, "<u4", "region",
           "the region it was called in, a row of `region_names`; 0: none, 4294967295: several", COLUMN_KEY),
    MERGED(node, "<i4", "node",
           "where it was called from, a row of `call_nodes`; -1: not recorded, -2: the rest", COLUMN_KEY),
    MERGED(calls, "<i8", "calls", "calls that returned", COLUMN_SUM),
    MERGED(time, "<f8", "s", "time in them", COLUMN_SUM),
    MERGED(min_time, "<f8", "s", "shortest call", COLUMN_SMALLEST),
    MERGED(max_time, "<f8", "s", "longest call", COLUMN_LARGEST),
    MERGED(bytes_sent, "<i8", "B", "bytes sent; of collective calls, what this rank contributed", COLUMN_SUM),
    MERGED(bytes_received, "<i8", "B", "bytes received, counted in the call that completed the receive",
           COLUMN_SUM),
    MERGED(messages, "<i8", "messages", "messages sent; contributions to collective calls", COLUMN_SUM),
    SIZE(0, "of these below 16 B"),
    SIZE(1, "from 16 B and below 256 B"),
    SIZE(2, "from 256 B and below 4 KiB"),
    SIZE(3, "from 4 KiB and below 64 KiB"),
    SIZE(4, "from 64 KiB and below 1 MiB"),
    SIZE(5, "from 1 MiB and below 16 MiB"),
    SIZE(6, "from 16 MiB on"),
};

static void put_row(struct buffer *rows, struct keyed_row *found, int rank)
{
    const struct mpi_site_key *key = keyed_key(found);
    const struct mpi_site *site = mpi_site_of(found);
    double factor = iolens.timeline.factor;
    struct row row = {.rank = rank,
                      .region = key->region,
                      .node = call_node_written(key->node),
                      .calls = site->calls,
                      .time = site->time * factor,
                      .min_time = site->min_time * factor,
                      .max_time = site->max_time * factor,
                      .bytes_sent = site->sent,
                      .bytes_received = site->received,
                      .messages = site->messages};
    strcpy(row.function, mpi_function_name(key->function));
    memcpy(row.size, site->sizes, sizeof row.size);
    if (site->calls > 0)
        buffer_put(rows, &row, sizeof row);
}

static int64_t weight(const void *row) { return (int64_t)(((const struct row *)row)->time * 1e9); }

static size_t rest(void *given)
{
    struct row *row = given;
    row->rank = -1;
    row->region = UINT32_MAX;
    row->node = -2;
    size_t function = 0;
    while (function < IOLENS_MPI_FUNCTIONS - 1 &&
           strcmp(mpi_function_name((uint32_t)function), row->function) != 0)
        function++;
    return function;
}

static void collect(const struct iolens_transport *transport, struct buffer *rows)
{
    struct keyed_row *row = mpi_sites_first(table_state_known(TABLE_mpi_sites));
    for (; row; row = keyed_next(row))
        put_row(rows, row, transport->rank);
    table_fold(process_tables[TABLE_mpi_sites], rows);
}

static int64_t most_rows(void) { return keyed_made(table_state_known(TABLE_mpi_sites)); }

const struct process_table table_mpi_sites = {
    .name = "mpi_sites",
    .meaning =
        "MPI calls of a rank by function, region and place that called, where MPI is traced "
        "(`IOLENS_TRACE=mpi`). When all ranks together have more rows than IOLENS_FILE_RANKS, those with "
        "the least time are one row for each function",
    TABLE_ROWS(COLUMNS),
    .state_bytes = sizeof(struct keyed),
    .validate = validate,
    .start = start,
    .collect = collect,
    .weight = weight,
    .rest = rest,
    .rest_slots = IOLENS_MPI_FUNCTIONS,
    .most_rows = most_rows,
};
