#include <errno.h>

#include "../memory/buffer.h"
#include "serial.h"

enum step {
    STEP_BARRIER,
    STEP_BCAST,
    STEP_ALLREDUCE,
    STEP_EXSCAN,
    STEP_GATHER,
    STEP_RECORDS,
    STEP_END,
    STEPS
};

static struct {
    const struct iolens_transport *below;
    struct iolens_transport own;
    size_t failures; /* Number of buffers that had run out of memory before the first step. */
    int error;
} iolens_in_step;

/* Collective. Returns true if all ranks are at this step with this number of bytes, and none lacks memory. */
static bool together(enum step step, size_t bytes)
{
    int64_t what = (int64_t)(bytes * STEPS + step);
    int64_t said[3] = {buffer_failures() > iolens_in_step.failures, what, -what};
    if (iolens_in_step.error)
        return false;
    if (iolens_in_step.below->allreduce(said, 3, IOLENS_INT64, IOLENS_MAX) != 0)
        iolens_in_step.error = ECOMM;
    else if (said[0] > 0)
        iolens_in_step.error = ENOMEM;
    else if (said[1] != -said[2])
        iolens_in_step.error = EPROTO;
    return iolens_in_step.error == 0;
}

/* Waits until all ranks have called this function. No real barrier is needed, because exchanging the states
 * already makes all ranks wait for each other. */
static int barrier(void) { return together(STEP_BARRIER, 0) ? 0 : -1; }

static int bcast(void *buffer, size_t bytes, int root)
{
    return together(STEP_BCAST, bytes) ? iolens_in_step.below->bcast(buffer, bytes, root) : -1;
}

static int allreduce(void *buffer, size_t count, enum iolens_type type, enum iolens_op op)
{
    return together(STEP_ALLREDUCE, count) ? iolens_in_step.below->allreduce(buffer, count, type, op) : -1;
}

static int exscan_sum(uint64_t *values, size_t count)
{
    return together(STEP_EXSCAN, count) ? iolens_in_step.below->exscan_sum(values, count) : -1;
}

static int gather(const void *send, size_t bytes, void *receive)
{
    return together(STEP_GATHER, bytes) ? iolens_in_step.below->gather(send, bytes, receive) : -1;
}

static int reduce_records(void *records, size_t record_bytes, size_t count, iolens_combine_fn *combine)
{
    return together(STEP_RECORDS, record_bytes * count)
               ? iolens_in_step.below->reduce_records(records, record_bytes, count, combine)
               : -1;
}

const struct iolens_transport *in_step_open(const struct iolens_transport *transport)
{
    struct iolens_transport own = *transport;
    own.barrier = barrier;
    own.bcast = bcast;
    own.allreduce = allreduce;
    own.exscan_sum = exscan_sum;
    own.gather = gather;
    own.reduce_records = reduce_records;
    iolens_in_step.below = transport;
    iolens_in_step.own = own;
    iolens_in_step.failures = buffer_failures();
    iolens_in_step.error = 0;
    return &iolens_in_step.own;
}

int in_step_close(void)
{
    together(STEP_END, 0);
    return iolens_in_step.error;
}
