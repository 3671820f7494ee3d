/* Ranks write blocks of 8 MiB of one file with collective calls, in six steps. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    int rank, ranks;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    int bytes = 8 << 20;
    char *block = malloc(bytes);
    MPI_File file;
    MPI_File_open(MPI_COMM_WORLD, "steps.bin", MPI_MODE_CREATE | MPI_MODE_WRONLY, MPI_INFO_NULL, &file);
    for (int step = 0; step < 6; step++) {
        memset(block, 'a' + rank, bytes);
        MPI_File_write_at_all(file, ((MPI_Offset)step * ranks + rank) * bytes, block, bytes, MPI_BYTE,
                              MPI_STATUS_IGNORE);
    }
    MPI_File_close(&file);
    if (!rank)
        puts("steps 6");
    MPI_Finalize();
    return 0;
}
