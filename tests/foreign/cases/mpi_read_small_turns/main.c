/* Ranks read records of 128 bytes in turns from one file with pread, or in contiguous blocks of 1 MiB. */
#include <fcntl.h>
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define BYTES (64l << 20)

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    int rank, ranks, cured = argc > 1 && !strcmp(argv[1], "twin");
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    static char block[1 << 20];
    long piece = cured ? 1 << 20 : 128;
    uint64_t sum = 0, all;
    int file = open("input.bin", O_RDONLY);
    for (long at = rank * piece; at < BYTES; at += piece * ranks) {
        if (pread(file, block, piece, at) != piece)
            MPI_Abort(MPI_COMM_WORLD, 1);
        for (long i = 0; i < piece; i += 128)
            sum += *(uint64_t *)(block + i);
    }
    close(file);
    MPI_Reduce(&sum, &all, 1, MPI_UINT64_T, MPI_SUM, 0, MPI_COMM_WORLD);
    if (!rank)
        printf("sum %llu\n", (unsigned long long)all);
    MPI_Finalize();
    return 0;
}
