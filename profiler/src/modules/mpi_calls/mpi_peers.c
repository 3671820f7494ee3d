#include <stdlib.h>

#include "../../runtime/context.h"
#include "../../runtime/thread_room.h"
#include "../../tables/table_merge.h"
#include "mpi_calls.h"

enum { DEFAULT_PEERS = 65536, SEEN = 64, OTHERS = -1 };

struct key {
    int32_t peer;
    uint32_t thread;
};

struct counts {
    int64_t messages[MPI_WAYS], bytes[MPI_WAYS];
};

struct seen {
    int32_t peer;
    struct counts *counts;
};

struct own {
    const void *store;
    struct seen seen[SEEN];
};
static struct thread_rooms iolens_peers_seen = {.bytes = sizeof(struct own)};
/* This thread's cache of the rows for the ranks with which it last exchanged messages. */
static __thread void *room __attribute__((tls_model("initial-exec")));

static struct keyed_shape shape = {sizeof(struct key), sizeof(struct counts), DEFAULT_PEERS, false, NULL};
static const struct keyed_shape unbounded = {sizeof(struct key), sizeof(struct counts), UINT64_MAX, false,
                                             NULL};

static void start(void)
{
    int64_t most = (int64_t)shape.most;
    if (!settings_number(iolens.settings.mpi_peers, 1, INT64_MAX, &most))
        iolens_say("IOLENS_MPI_PEERS=%s is not a positive number of ranks, so the default %d is used",
                   iolens.settings.mpi_peers, DEFAULT_PEERS);
    shape.most = (uint64_t)most;
}

static struct counts *find(struct keyed *store, int32_t peer)
{
    struct key key = {peer, thread_slot()};
    struct keyed_row *row = keyed_find(store, &shape, &key);
    key.peer = OTHERS;
    row = row ? row : keyed_find(store, &unbounded, &key);
    return row ? keyed_value(row, &shape) : NULL;
}

static struct counts *find_anew(struct keyed *store, int32_t peer)
{
    iolens_busy = true;
    struct counts *counts = find(store, peer);
    iolens_busy = false;
    return counts;
}

static struct counts *counts_of(struct keyed *store, int32_t peer)
{
    struct own *own = room ? room : thread_room(&iolens_peers_seen, &room);
    if (!own)
        return find_anew(store, peer);
    if (__builtin_expect(own->store != store, 0)) {
        memset(own->seen, 0, sizeof own->seen);
        own->store = store;
    }
    struct seen *seen = &own->seen[(uint32_t)peer % SEEN];
    if (seen->peer != peer || !seen->counts)
        *seen = (struct seen){peer, find_anew(store, peer)};
    return seen->counts;
}

void mpi_peer_add(int peer, int64_t bytes, enum mpi_way way)
{
    struct keyed *store = iolens_active() && !iolens_paused() ? table_state(TABLE_mpi_peers) : NULL;
    struct counts *counts = store ? counts_of(store, peer) : NULL;
    if (!counts)
        return;
    counts->messages[way]++;
    counts->bytes[way] += bytes;
}

struct row {
    int64_t rank, peer, messages, bytes, received_messages, received_bytes, got_messages, got_bytes;
    uint8_t on_node;
};

static const struct column COLUMNS[] = {
    MERGED(rank, "<i8", "rank", "the rank that counted; -1: several ranks", COLUMN_RANK),
    MERGED(peer, "<i8", "rank",
           "the rank of MPI_COMM_WORLD at the other end; -1: all ranks without a row of their own, and "
           "processes outside MPI_COMM_WORLD",
           COLUMN_KEY),
    MERGED(messages, "<i8", "messages", "messages sent to the peer, point-to-point and one-sided",
           COLUMN_SUM),
    MERGED(bytes, "<i8", "B", "bytes of these messages", COLUMN_SUM),
    MERGED(received_messages, "<i8", "messages",
           "messages received from the peer, including those fetched from its windows", COLUMN_SUM),
    MERGED(received_bytes, "<i8", "B", "bytes of these messages", COLUMN_SUM),
    MERGED(got_messages, "<i8", "messages",
           "the part of `received_messages` that this rank's calls fetched from the peer's windows",
           COLUMN_SUM),
    MERGED(got_bytes, "<i8", "B", "bytes of these messages", COLUMN_SUM),
    MERGED(on_node, "<u1", "truth", "1: both ranks are on one node", COLUMN_KEY),
};

/* Returns an array with a node number for each rank, equal on all ranks; NULL on failure. Nodes are compared
 * by the hash of their names. */
static const uint64_t *gather_nodes(const struct iolens_transport *transport, struct buffer *nodes)
{
    uint64_t *all = buffer_add(nodes, (size_t)transport->size * sizeof *all);
    uint64_t mine = UINT64_C(0xcbf29ce484222325);
    for (const char *c = iolens.identity.host; *c; c++)
        mine = (mine ^ (unsigned char)*c) * UINT64_C(0x100000001b3);
    if (!all || transport->gather(&mine, sizeof mine, all) != 0 ||
        transport->bcast(all, (size_t)transport->size * sizeof *all, 0) != 0)
        return NULL;
    return all;
}

static void put_row(struct buffer *rows, const struct keyed_row *found,
                    const struct iolens_transport *transport, const uint64_t *nodes)
{
    const struct key *key = keyed_key(found);
    const struct counts *counts = keyed_value((struct keyed_row *)found, &shape);
    bool known = key->peer >= 0 && key->peer < transport->size;
    struct row row = {.rank = transport->rank,
                      .peer = known ? key->peer : OTHERS,
                      .messages = counts->messages[MPI_WAY_SENT],
                      .bytes = counts->bytes[MPI_WAY_SENT],
                      .received_messages = counts->messages[MPI_WAY_RECEIVED] + counts->messages[MPI_WAY_GOT],
                      .received_bytes = counts->bytes[MPI_WAY_RECEIVED] + counts->bytes[MPI_WAY_GOT],
                      .got_messages = counts->messages[MPI_WAY_GOT],
                      .got_bytes = counts->bytes[MPI_WAY_GOT],
                      .on_node = known && nodes[key->peer] == nodes[transport->rank]};
    buffer_put(rows, &row, sizeof row);
}

static size_t rest(void *given)
{
    struct row *row = given;
    row->rank = row->peer = -1;
    return row->on_node;
}

static void collect(const struct iolens_transport *transport, struct buffer *rows)
{
    const struct keyed *store = table_state_known(TABLE_mpi_peers);
    struct buffer places = {0};
    const uint64_t *nodes = gather_nodes(transport, &places);
    for (const struct keyed_row *row = store && nodes ? keyed_first(store) : NULL; row; row = keyed_next(row))
        put_row(rows, row, transport, nodes);
    table_fold(process_tables[TABLE_mpi_peers], rows);
    buffer_free(&places);
}

const struct process_table table_mpi_peers = {
    .name = "mpi_peers",
    .meaning = "Messages of a rank by the rank at the other end, where MPI is traced, without those of "
               "collective calls. Beyond IOLENS_MPI_PEERS ranks, and where all ranks together have more rows "
               "than IOLENS_FILE_RANKS, the rest is summed in one row",
    TABLE_ROWS(COLUMNS),
    .recording.state_bytes = sizeof(struct keyed),
    .recording.keyed = &shape,
    .recording.start = start,
    .merging.on_demand = true,
    .merging.collect = collect,
    .merging.weighed_by = {"bytes", "received_bytes"},
    .merging.rest = rest,
    .merging.rest_slots = 2,
};
