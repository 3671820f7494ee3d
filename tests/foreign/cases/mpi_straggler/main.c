/* All ranks write as many bytes; rank 2 uses pieces of 16 bytes in the slow variant and large ones in the
 * other. */
#include <fcntl.h>
#include <mpi.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define BYTES (12l << 20)

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    int rank, cured = argc > 1 && !strcmp(argv[1], "twin");
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    static char block[1 << 20], name[32];
    memset(block, 'a' + rank, sizeof block);
    sprintf(name, "part%d.bin", rank);
    int file = open(name, O_CREAT | O_TRUNC | O_WRONLY, 0644);
    size_t piece = rank == 2 && !cured ? 16 : sizeof block;
    for (long at = 0; at < BYTES; at += piece)
        if (write(file, block, piece) != (ssize_t)piece)
            MPI_Abort(MPI_COMM_WORLD, 1);
    close(file);
    MPI_Barrier(MPI_COMM_WORLD);
    if (!rank)
        puts("parts written");
    MPI_Finalize();
    return 0;
}
