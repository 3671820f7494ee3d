/* The table of the communicators that a rank used, with their sizes. */
#include "../../runtime/wrap.h"
#include "../../tables/keyed.h"
#include "../../tables/process_table.h"

enum { MOST_SIZES = 1024 };

struct key {
    int32_t size, remote;
};

static const struct keyed_shape shape = {sizeof(struct key), sizeof(_Atomic int64_t), MOST_SIZES, false,
                                         NULL};

struct row {
    int64_t rank, size, remote_size, communicators;
};

static const struct column COLUMNS[] = {
    MERGED(rank, "<i8", "rank", "the rank that used the communicators; -1: several ranks", COLUMN_RANK),
    MERGED(size, "<i8", "ranks", "size of the communicator, or of the rank's own group in it", COLUMN_KEY),
    MERGED(remote_size, "<i8", "ranks",
           "size of the remote group of an intercommunicator; 0: not an intercommunicator", COLUMN_KEY),
    MERGED(communicators, "<i8", "communicators", "number of communicators of this size that the rank used",
           COLUMN_SUM),
};

IOLENS_EXPORT bool iolens_mpi_communicator(int size, int remote_size)
{
    if (!iolens_active() || iolens_paused())
        return false;
    struct keyed *store = table_state(TABLE_mpi_communicators);
    const struct key key = {size, remote_size};
    struct keyed_row *row = store ? keyed_find(store, &shape, &key) : NULL;
    if (row)
        atomic_fetch_add((_Atomic int64_t *)keyed_value(row, &shape), 1);
    return true;
}

static size_t rest(void *given)
{
    struct row *row = given;
    *row = (struct row){.rank = -1, .communicators = row->communicators};
    return 0;
}

static void collect(const struct iolens_transport *transport, struct buffer *rows)
{
    const struct keyed *store = table_state_known(TABLE_mpi_communicators);
    for (struct keyed_row *row = store ? keyed_first(store) : NULL; row; row = keyed_next(row)) {
        const struct key *key = keyed_key(row);
        const struct row out = {transport->rank, key->size, key->remote,
                                *(const int64_t *)keyed_value(row, &shape)};
        buffer_put(rows, &out, sizeof out);
    }
}

const struct process_table table_mpi_communicators = {
    .name = "mpi_communicators",
    .meaning = "Sizes of the communicators in which a rank sent, received or made collective calls, where "
               "MPI is traced. A row of rank -1 has size 0, which stands for any size",
    TABLE_ROWS(COLUMNS),
    .recording.state_bytes = sizeof(struct keyed),
    .recording.keyed = &shape,
    .merging.collect = collect,
    .merging.weighed_by = {"size"},
    .merging.rest = rest,
    .merging.rest_slots = 1,
};
