/* Ranks wait for a file of rank 0 with stat and pauses in each step, or for a broadcast. */
#include <fcntl.h>
#include <mpi.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    int rank, value = 0, cured = argc > 1 && !strcmp(argv[1], "twin");
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    struct stat status;
    char name[32];
    for (int step = 0; step < 8; step++) {
        sprintf(name, "step%d.ready", step);
        if (!rank)
            usleep(20000);
        if (cured) {
            MPI_Bcast(&value, 1, MPI_INT, 0, MPI_COMM_WORLD);
        } else {
            if (!rank)
                close(open(name, O_CREAT | O_WRONLY, 0644));
            while (stat(name, &status))
                usleep(400000);
            MPI_Barrier(MPI_COMM_WORLD);
        }
    }
    if (!rank)
        puts("steps 8");
    MPI_Finalize();
    return 0;
}
