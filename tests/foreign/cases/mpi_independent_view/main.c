/* Ranks write columns of an array: each for itself through its view, or together. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ROWS  20000
#define WIDTH 16 /* doubles of a rank in each row */

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    int rank, ranks, cured = argc > 1 && !strcmp(argv[1], "twin");
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    double *mine = malloc(sizeof(double) * ROWS * WIDTH);
    for (long i = 0; i < (long)ROWS * WIDTH; i++)
        mine[i] = rank + i;
    int sizes[2] = {ROWS, WIDTH * ranks}, part[2] = {ROWS, WIDTH}, start[2] = {0, WIDTH * rank};
    MPI_Datatype columns;
    MPI_Type_create_subarray(2, sizes, part, start, MPI_ORDER_C, MPI_DOUBLE, &columns);
    MPI_Type_commit(&columns);
    MPI_File file;
    MPI_File_open(MPI_COMM_WORLD, "array.bin", MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file);
    MPI_File_set_view(file, 0, MPI_DOUBLE, columns, "native", MPI_INFO_NULL);
    for (int repeat = 0; repeat < 2; repeat++) {
        if (cured)
            MPI_File_write_at_all(file, 0, mine, ROWS * WIDTH, MPI_DOUBLE, MPI_STATUS_IGNORE);
        else
            for (int row = 0; row < ROWS; row++)
                MPI_File_write_at(file, (MPI_Offset)row * WIDTH, mine + row * WIDTH, WIDTH, MPI_DOUBLE,
                                  MPI_STATUS_IGNORE);
    }
    MPI_File_close(&file);
    if (!rank)
        puts("array written");
    MPI_Finalize();
    return 0;
}
