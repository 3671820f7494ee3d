/* Ranks append lines to one log under a lock that they hold while they work, or to logs of their own. */
#include <fcntl.h>
#include <mpi.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    int rank, cured = argc > 1 && !strcmp(argv[1], "twin");
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    char name[32] = "shared.log", line[64];
    if (cured)
        sprintf(name, "rank%d.log", rank);
    int file = open(name, O_CREAT | O_RDWR | O_APPEND, 0644);
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET}, unlock = {.l_type = F_UNLCK};
    for (int i = 0; i < 300; i++) {
        int length = sprintf(line, "rank %d item %04d\n", rank, i);
        if (!cured)
            fcntl(file, F_SETLKW, &lock);
        if (write(file, line, length) != length)
            MPI_Abort(MPI_COMM_WORLD, 1);
        usleep(2500);
        if (!cured)
            fcntl(file, F_SETLK, &unlock);
    }
    close(file);
    MPI_Barrier(MPI_COMM_WORLD);
    if (!rank)
        puts("lines of each rank 300");
    MPI_Finalize();
    return 0;
}
