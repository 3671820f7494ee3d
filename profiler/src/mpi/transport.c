#include "transport.h"

#include <limits.h>
#include <string.h>

#include "handles.h"

/* MPI counts are ints, so longer messages are split. */
#define PIECE ((size_t)1 << 30)

static MPI_Comm comm;
static struct iolens_transport transport;

static int status(int code) { return code == MPI_SUCCESS ? 0 : -1; }

static int barrier(void) { return status(pmpi.Barrier(comm)); }

static int bcast(void *buffer, size_t bytes, int root)
{
    for (size_t done = 0; done < bytes; done += PIECE) {
        size_t piece = bytes - done < PIECE ? bytes - done : PIECE;
        if (pmpi.Bcast((char *)buffer + done, (int)piece, mpi.byte, root, comm) != MPI_SUCCESS)
            return -1;
    }
    return 0;
}

static int allreduce(void *buffer, size_t count, enum iolens_type type, enum iolens_op op)
{
    const MPI_Datatype types[] = {
        [IOLENS_INT64] = mpi.int64, [IOLENS_DOUBLE] = mpi.real64, [IOLENS_UINT8] = mpi.byte};
    const MPI_Op ops[] = {
        [IOLENS_MIN] = mpi.min, [IOLENS_MAX] = mpi.max, [IOLENS_SUM] = mpi.sum, [IOLENS_BAND] = mpi.band};
    if (count > INT_MAX)
        return -1;
    return status(pmpi.Allreduce(MPI_IN_PLACE, buffer, (int)count, types[type], ops[op], comm));
}

static int exscan_sum(uint64_t *values, size_t count)
{
    if (count > INT_MAX ||
        pmpi.Exscan(MPI_IN_PLACE, values, (int)count, mpi.uint64, mpi.sum, comm) != MPI_SUCCESS)
        return -1;
    if (transport.rank == 0) /* MPI leaves the result of an exclusive scan undefined on rank 0. */
        memset(values, 0, count * sizeof *values);
    return 0;
}

static int gather(const void *send, size_t bytes, void *receive)
{
    if (bytes > INT_MAX)
        return -1;
    return status(pmpi.Gather(send, (int)bytes, mpi.byte, receive, (int)bytes, mpi.byte, 0, comm));
}

/* The function with which the current reduction combines records; MPI_Op gives no other way to pass it. */
static struct {
    iolens_combine_fn *combine;
    size_t record_bytes;
} reduction;

static void combine_records(void *in, void *inout, int *count, MPI_Datatype *type)
{
    (void)type;
    for (int i = 0; i < *count; i++) {
        size_t at = (size_t)i * reduction.record_bytes;
        reduction.combine((char *)in + at, (char *)inout + at);
    }
}

static int reduce_records(void *records, size_t record_bytes, size_t count, iolens_combine_fn *combine)
{
    MPI_Datatype type;
    MPI_Op op;
    if (record_bytes > INT_MAX || count > INT_MAX)
        return -1;
    if (pmpi.Type_contiguous((int)record_bytes, mpi.byte, &type) != MPI_SUCCESS)
        return -1;
    reduction.combine = combine;
    reduction.record_bytes = record_bytes;
    int code = pmpi.Type_commit(&type);
    if (code == MPI_SUCCESS && (code = pmpi.Op_create(combine_records, 0, &op)) == MPI_SUCCESS) {
        bool root = transport.rank == 0;
        code =
            pmpi.Reduce(root ? MPI_IN_PLACE : records, root ? records : NULL, (int)count, type, op, 0, comm);
        pmpi.Op_free(&op);
    }
    pmpi.Type_free(&type);
    return status(code);
}

static int send(const void *buffer, size_t bytes, int rank)
{
    return bytes > INT_MAX ? -1 : status(pmpi.Send(buffer, (int)bytes, mpi.byte, rank, 0, comm));
}

static int receive(void *buffer, size_t bytes, int rank)
{
    return bytes > INT_MAX
               ? -1
               : status(pmpi.Recv(buffer, (int)bytes, mpi.byte, rank, 0, comm, MPI_STATUS_IGNORE));
}

const struct iolens_transport *transport_open(void)
{
    if (pmpi.Comm_dup(mpi.world, &comm) != MPI_SUCCESS)
        return NULL;
    transport = (struct iolens_transport){
        .mpi_version = mpi_library(),
        .barrier = barrier,
        .bcast = bcast,
        .allreduce = allreduce,
        .exscan_sum = exscan_sum,
        .gather = gather,
        .reduce_records = reduce_records,
        .send = send,
        .receive = receive,
    };
    pmpi.Comm_rank(comm, &transport.rank);
    pmpi.Comm_size(comm, &transport.size);
    return &transport;
}

void transport_close(void) { pmpi.Comm_free(&comm); }
