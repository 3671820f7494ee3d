#include "eager.h"

#include "fail.h"

#include <stdbool.h>
#include <stdlib.h>

enum { DATA = 1, GO = 2 };

/* A send that does not end in this time waits for its receiver. */
static const double PATIENCE = 5e-3;

/* The receiver waits for a later message, so that it makes progress without the receive that matters. */
static bool is_eager(void *buffer, long long bytes, int rank, MPI_Comm comm)
{
    int done = 0;
    if (rank == 0) {
        MPI_Request request;
        double end = MPI_Wtime() + PATIENCE;
        MPI_Isend(buffer, (int)bytes, MPI_BYTE, 1, DATA, comm, &request);
        do
            MPI_Test(&request, &done, MPI_STATUS_IGNORE);
        while (!done && MPI_Wtime() < end);
        MPI_Send(NULL, 0, MPI_BYTE, 1, GO, comm);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    } else {
        MPI_Recv(NULL, 0, MPI_BYTE, 0, GO, comm, MPI_STATUS_IGNORE);
        MPI_Recv(buffer, (int)bytes, MPI_BYTE, 0, DATA, comm, MPI_STATUS_IGNORE);
    }
    MPI_Bcast(&done, 1, MPI_INT, 0, comm);
    return done;
}

long long eager_observed(long long most, MPI_Comm comm)
{
    int rank;
    MPI_Comm_rank(comm, &rank);
    void *buffer = allocate(1, (size_t)most);
    long long eager = 0, waits = most + 1;
    while (waits - eager > 1) {
        long long middle = eager + (waits - eager) / 2;
        if (is_eager(buffer, middle, rank, comm))
            eager = middle;
        else
            waits = middle;
    }
    free(buffer);
    return eager > 0 ? eager : EAGER_NONE;
}
