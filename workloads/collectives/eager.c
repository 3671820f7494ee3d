#include <stdlib.h>

#include "run.h"

enum { DATA = 1, CALL = 2, ANSWER = 3, ROUNDS = 8 };

/* Returns true if a message of this size is sent without waiting for its receive. While the send is pending,
 * the ranks exchange other messages, so that both MPI libraries make progress; afterwards a send that needs
 * no receive is complete. No time is measured for this. */
static bool is_eager(void *buffer, long long bytes, int rank, MPI_Comm comm)
{
    int done = 0;
    MPI_Request request = MPI_REQUEST_NULL;
    if (rank == 0)
        MPI_Isend(buffer, (int)bytes, MPI_BYTE, 1, DATA, comm, &request);
    for (int i = 0; i < ROUNDS; i++) {
        if (rank == 0) {
            MPI_Send(NULL, 0, MPI_BYTE, 1, CALL, comm);
            MPI_Recv(NULL, 0, MPI_BYTE, 1, ANSWER, comm, MPI_STATUS_IGNORE);
        } else {
            MPI_Recv(NULL, 0, MPI_BYTE, 0, CALL, comm, MPI_STATUS_IGNORE);
            MPI_Send(NULL, 0, MPI_BYTE, 0, ANSWER, comm);
        }
    }
    if (rank == 0)
        MPI_Test(&request, &done, MPI_STATUS_IGNORE);
    MPI_Bcast(&done, 1, MPI_INT, 0, comm);
    if (rank == 0)
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    else
        MPI_Recv(buffer, (int)bytes, MPI_BYTE, 0, DATA, comm, MPI_STATUS_IGNORE);
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
