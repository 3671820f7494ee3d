/* Writes 1 000 000 bytes of each rank to DIRECTORY/shared; each rank then reads those of its neighbour.
 * Usage: mpi_stripes DIRECTORY */
#include <fcntl.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { BYTES = 1000000, PIECE = 50000 };

int main(int count, char **argument)
{
    static char data[PIECE];
    char path[4096];
    int rank, ranks;
    MPI_Init(&count, &argument);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    snprintf(path, sizeof path, "%s/shared", argument[1]);
    int fd = open(path, O_CREAT | O_RDWR, 0600);
    for (off_t at = 0; at < BYTES; at += PIECE)
        if (pwrite(fd, data, PIECE, at + (off_t)rank * BYTES) != PIECE)
            MPI_Abort(MPI_COMM_WORLD, 1);
    fsync(fd);
    MPI_Barrier(MPI_COMM_WORLD);
    for (off_t at = 0; at < BYTES; at += PIECE)
        if (pread(fd, data, PIECE, at + (off_t)((rank + 1) % ranks) * BYTES) != PIECE)
            MPI_Abort(MPI_COMM_WORLD, 1);
    close(fd);
    MPI_Finalize();
    return 0;
}
