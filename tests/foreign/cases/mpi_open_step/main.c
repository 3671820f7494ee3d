/* Opens and closes the output with MPI-IO in each step, or once. */
#include <mpi.h>
#include <stdio.h>
#include <string.h>

#define STEPS 250

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    int rank, ranks, cured = argc > 1 && !strcmp(argv[1], "twin");
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    static char block[16384];
    MPI_File file;
    if (cured)
        MPI_File_open(MPI_COMM_WORLD, "steps.bin", MPI_MODE_CREATE | MPI_MODE_WRONLY, MPI_INFO_NULL, &file);
    for (int step = 0; step < STEPS; step++) {
        memset(block, 'a' + step % 26, sizeof block);
        if (!cured)
            MPI_File_open(MPI_COMM_WORLD, "steps.bin", MPI_MODE_CREATE | MPI_MODE_WRONLY, MPI_INFO_NULL,
                          &file);
        MPI_File_write_at(file, ((MPI_Offset)step * ranks + rank) * sizeof block, block, sizeof block,
                          MPI_BYTE, MPI_STATUS_IGNORE);
        if (!cured)
            MPI_File_close(&file);
    }
    if (cured)
        MPI_File_close(&file);
    if (!rank)
        printf("steps %d\n", STEPS);
    MPI_Finalize();
    return 0;
}
