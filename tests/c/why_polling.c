/* Rank 1 polls for a message of rank 0, which cannot come during the first POLLS calls. Prints `CALLS n`, the
 * number of polls that found nothing. */
#include <mpi.h>
#include <stdio.h>
#include <unistd.h>

enum { POLLS = 20000 };

int main(int argc, char **argv)
{
    int rank, found = 0, calls = -1, message = 0;
    MPI_Request request;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0) {
        MPI_Recv(&message, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        usleep(200000);
        MPI_Send(&message, 1, MPI_INT, 1, 1, MPI_COMM_WORLD);
    } else if (rank == 1) {
        MPI_Irecv(&message, 1, MPI_INT, 0, 1, MPI_COMM_WORLD, &request);
        for (calls = 0; calls < POLLS; calls++)
            MPI_Test(&request, &found, MPI_STATUS_IGNORE);
        MPI_Send(&message, 1, MPI_INT, 0, 0, MPI_COMM_WORLD);
        for (; !found; calls += !found)
            MPI_Test(&request, &found, MPI_STATUS_IGNORE);
        printf("CALLS %d\n", calls);
    }
    MPI_Finalize();
    return 0;
}
