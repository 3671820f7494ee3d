#include <unistd.h>

#include "recover.h"

static int hub;
static struct iolens_transport transport;

/* Sends a collective call with this rank's bytes to the hub, and receives the answer. If the hub is gone,
 * ends the process; on rank 0 returns -1 instead, so that rank 0 can remove the file that it wrote. */
static int call(struct wire wire, const void *mine, void *answer, size_t answer_bytes)
{
    size_t bytes = mine ? wire.item_bytes * wire.items : 0;
    if (wire_send(hub, &wire, sizeof wire) && wire_send(hub, mine, bytes) &&
        wire_receive(hub, answer, answer_bytes))
        return 0;
    if (transport.rank != 0)
        _exit(1);
    return -1;
}

static int barrier(void) { return call((struct wire){.call = WIRE_BARRIER}, NULL, NULL, 0); }

static int bcast(void *buffer, size_t bytes, int root)
{
    bool sends = transport.rank == root;
    const struct wire wire = {.call = WIRE_BCAST, .item_bytes = 1, .items = bytes};
    return call(wire, sends ? buffer : NULL, buffer, sends ? 0 : bytes);
}

static int allreduce(void *buffer, size_t count, enum iolens_type type, enum iolens_op op)
{
    size_t item = type == IOLENS_UINT8 ? 1 : 8;
    const struct wire wire = {
        .call = WIRE_ALLREDUCE, .type = type, .op = op, .item_bytes = item, .items = count};
    return call(wire, buffer, buffer, item * count);
}

static int exscan_sum(uint64_t *values, size_t count)
{
    const struct wire wire = {.call = WIRE_EXSCAN, .item_bytes = sizeof *values, .items = count};
    return call(wire, values, values, count * sizeof *values);
}

static int gather(const void *send, size_t bytes, void *receive)
{
    const struct wire wire = {.call = WIRE_GATHER, .item_bytes = 1, .items = bytes};
    return call(wire, send, receive, transport.rank == 0 ? bytes * (size_t)transport.size : 0);
}

static int reduce_records(void *records, size_t record_bytes, size_t count, iolens_combine_fn *combine)
{
    const struct wire wire = {
        .call = WIRE_REDUCE, .item_bytes = record_bytes, .items = count, .combine = combine};
    return call(wire, records, records, transport.rank == 0 ? record_bytes * count : 0);
}

const struct iolens_transport *hub_join(int socket, int rank, int size, const char *mpi_version)
{
    hub = socket;
    transport = (struct iolens_transport){
        .rank = rank,
        .size = size,
        .mpi_version = mpi_version && *mpi_version ? mpi_version : NULL,
        .barrier = barrier,
        .bcast = bcast,
        .allreduce = allreduce,
        .exscan_sum = exscan_sum,
        .gather = gather,
        .reduce_records = reduce_records,
    };
    return &transport;
}
