/* Preloaded behind the profiler: counts the collective calls that the profiler makes on its own communicator,
 * and those by which the ranks find out that all of them are recorded. Rank 0 prints the number when the
 * communicator is freed. */
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>

static int calls, rank;
static MPI_Comm own = MPI_COMM_NULL;

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

#define COUNTED(name, parameters, arguments)                                                                 \
    int name parameters                                                                                      \
    {                                                                                                        \
        calls += comm == own;                                                                                \
        return REAL(name) arguments;                                                                         \
    }

COUNTED(PMPI_Barrier, (MPI_Comm comm), (comm))
COUNTED(PMPI_Bcast, (void *buffer, int count, MPI_Datatype type, int root, MPI_Comm comm),
        (buffer, count, type, root, comm))
COUNTED(PMPI_Allreduce, (const void *in, void *out, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm),
        (in, out, count, type, op, comm))
COUNTED(PMPI_Exscan, (const void *in, void *out, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm),
        (in, out, count, type, op, comm))
COUNTED(PMPI_Reduce,
        (const void *in, void *out, int count, MPI_Datatype type, MPI_Op op, int root, MPI_Comm comm),
        (in, out, count, type, op, root, comm))
COUNTED(PMPI_Gather,
        (const void *in, int count, MPI_Datatype type, void *out, int each, MPI_Datatype other, int root,
         MPI_Comm comm),
        (in, count, type, out, each, other, root, comm))

/* Counts a call of the profiler: with this call on MPI_COMM_WORLD the ranks find out that all of them are
 * recorded, before the profiler has a communicator of its own. */
int PMPI_Iallreduce(const void *in, void *out, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm,
                    MPI_Request *request)
{
    calls++;
    return REAL(PMPI_Iallreduce)(in, out, count, type, op, comm, request);
}

int PMPI_Comm_dup(MPI_Comm comm, MPI_Comm *copy)
{
    int code = REAL(PMPI_Comm_dup)(comm, copy);
    own = own == MPI_COMM_NULL ? *copy : own;
    return code;
}

int PMPI_Comm_free(MPI_Comm *comm)
{
    PMPI_Comm_rank(*comm, &rank);
    if (*comm == own && rank == 0)
        printf("collective calls: %d\n", calls);
    own = *comm == own ? MPI_COMM_NULL : own;
    return REAL(PMPI_Comm_free)(comm);
}
