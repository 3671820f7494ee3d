/* The last rank writes nearly all blocks, or all ranks the same number. */
#include <fcntl.h>
#include <mpi.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define BLOCKS 880

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    int rank, ranks, cured = argc > 1 && !strcmp(argv[1], "twin");
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    static char block[65536];
    int file = open("blocks.bin", O_CREAT | O_WRONLY, 0644);
    for (int i = 0; i < BLOCKS; i++) {
        int owner = cured ? i % ranks : (i < 8 * (ranks - 1) ? i % (ranks - 1) : ranks - 1);
        if (owner != rank)
            continue;
        memset(block, 'a' + i % 26, sizeof block);
        if (pwrite(file, block, sizeof block, (off_t)i * sizeof block) != sizeof block)
            MPI_Abort(MPI_COMM_WORLD, 1);
        if (i % 4 == 0)
            fdatasync(file);
    }
    close(file);
    MPI_Barrier(MPI_COMM_WORLD);
    if (!rank)
        printf("blocks %d\n", BLOCKS);
    MPI_Finalize();
    return 0;
}
