/* Ranks that meet in 200 barriers, rank 1 a millisecond late each time; then rank 1 ends the job in the way
 * that the argument names: abort, kill or exit. */
#include <mpi.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

int main(int count, char **words)
{
    int rank;
    MPI_Init(&count, &words);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < 200; i++) {
        if (rank == 1)
            usleep(1000);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    if (rank == 1 && strcmp(words[1], "abort") == 0)
        MPI_Abort(MPI_COMM_WORLD, 3);
    if (rank == 1 && strcmp(words[1], "kill") == 0)
        raise(SIGKILL);
    if (rank == 1)
        _exit(4);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
