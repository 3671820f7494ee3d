/* A preload library whose sums of doubles are off by one in their last element. */
#include <mpi.h>

int MPI_Allreduce(const void *send, void *receive, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm)
{
    int code = PMPI_Allreduce(send, receive, count, type, op, comm);
    if (type == MPI_DOUBLE && op == MPI_SUM && count > 1)
        ((double *)receive)[count - 1] += 1.0;
    return code;
}
