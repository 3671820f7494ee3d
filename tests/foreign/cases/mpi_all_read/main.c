/* Each rank needs its part of an input, once for each field: reads the whole file in small pieces, or only
 * the part. */
#include <fcntl.h>
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define BYTES (120l << 20)

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    int rank, ranks, cured = argc > 1 && !strcmp(argv[1], "twin");
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    static char block[4096];
    long part = BYTES / ranks, begin = rank * part, end = begin + part, at;
    uint64_t sum = 0, all;
    int file = open("input.bin", O_RDONLY);
    for (int field = 0; field < 6; field++)
        for (at = cured ? begin : 0; at < (cured ? end : BYTES); at += sizeof block) {
            if (pread(file, block, sizeof block, at) != sizeof block)
                MPI_Abort(MPI_COMM_WORLD, 1);
            if (at >= begin && at < end)
                sum += ((uint64_t *)block)[field];
        }
    close(file);
    MPI_Reduce(&sum, &all, 1, MPI_UINT64_T, MPI_SUM, 0, MPI_COMM_WORLD);
    if (!rank)
        printf("sum %llu\n", (unsigned long long)all);
    MPI_Finalize();
    return 0;
}
