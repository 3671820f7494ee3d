/* Sends small messages from even to odd ranks for the requested time; after each 2000 messages all ranks wait
 * for rank 0. Recording is switched off at the end. */
#include <mpi.h>
#include <stdlib.h>
#include <time.h>

int main(int argc, char **argv)
{
    int rank, go_on = 1, data = 0;
    double seconds = argc > 1 ? atof(argv[1]) : 1;
    struct timespec late = {.tv_nsec = 10000000};
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    double begin = MPI_Wtime();
    while (go_on) {
        for (int i = 0; i < 2000; i++) {
            if (rank % 2 == 0)
                MPI_Send(&data, 1, MPI_INT, rank + 1, 0, MPI_COMM_WORLD);
            else
                MPI_Recv(&data, 1, MPI_INT, rank - 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        }
        if (rank == 0)
            nanosleep(&late, NULL);
        go_on = rank == 0 && MPI_Wtime() - begin < seconds;
        MPI_Bcast(&go_on, 1, MPI_INT, 0, MPI_COMM_WORLD);
    }
    MPI_Pcontrol(0);
    MPI_Finalize();
    return 0;
}
