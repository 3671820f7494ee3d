#include "serial.h"

#include <string.h>

static int barrier(void) { return 0; }

static int bcast(void *buffer, size_t bytes, int root)
{
    (void)buffer, (void)bytes, (void)root;
    return 0;
}

static int allreduce(void *buffer, size_t count, enum iolens_type type, enum iolens_op op)
{
    (void)buffer, (void)count, (void)type, (void)op;
    return 0;
}

static int exscan_sum(uint64_t *values, size_t count)
{
    memset(values, 0, count * sizeof *values);
    return 0;
}

static int gather(const void *send, size_t bytes, void *receive)
{
    if (!receive)
        return -1;
    memcpy(receive, send, bytes);
    return 0;
}

static int reduce_records(void *records, size_t record_bytes, size_t count, iolens_combine_fn *combine)
{
    (void)records, (void)record_bytes, (void)count, (void)combine;
    return 0;
}

const struct iolens_transport serial_transport = {
    .rank = 0,
    .size = 1,
    .mpi_version = NULL,
    .barrier = barrier,
    .bcast = bcast,
    .allreduce = allreduce,
    .exscan_sum = exscan_sum,
    .gather = gather,
    .reduce_records = reduce_records,
};
