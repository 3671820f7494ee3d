/* Ranks write records of 64 bytes in turns into one file with pwrite, or exchange first and write whole
 * blocks. */
#include <fcntl.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define RECORDS 300000l
#define SIZE    64

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    int rank, ranks, cured = argc > 1 && !strcmp(argv[1], "twin");
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    long share = RECORDS / ranks;
    char *mine = malloc(RECORDS * SIZE);
    for (long i = 0; i < RECORDS; i++)
        memset(mine + i * SIZE, 'a' + (rank + i) % 26, SIZE);
    int file = open("shared.bin", O_CREAT | O_WRONLY, 0644);
    if (cured) {
        char *parts = malloc(RECORDS * SIZE), *block = malloc(RECORDS * SIZE);
        MPI_Alltoall(mine, share * SIZE, MPI_BYTE, parts, share * SIZE, MPI_BYTE, MPI_COMM_WORLD);
        for (long i = 0; i < share; i++)
            for (int from = 0; from < ranks; from++)
                memcpy(block + (i * ranks + from) * SIZE, parts + (from * share + i) * SIZE, SIZE);
        if (pwrite(file, block, RECORDS * SIZE, rank * RECORDS * SIZE) != RECORDS * SIZE)
            MPI_Abort(MPI_COMM_WORLD, 1);
    } else {
        for (long i = 0; i < RECORDS; i++)
            if (pwrite(file, mine + i * SIZE, SIZE, (i * ranks + rank) * SIZE) != SIZE)
                MPI_Abort(MPI_COMM_WORLD, 1);
    }
    close(file);
    MPI_Barrier(MPI_COMM_WORLD);
    if (!rank)
        printf("records %ld\n", RECORDS * ranks);
    MPI_Finalize();
    return 0;
}
