/* Parallel HDF5: ranks write columns of a dataset row by row, each for itself, or all in one collective call.
 */
#include <hdf5.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ROWS  50000
#define WIDTH 16

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    int rank, ranks, cured = argc > 1 && !strcmp(argv[1], "twin");
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    double *mine = malloc(sizeof(double) * ROWS * WIDTH);
    for (long i = 0; i < (long)ROWS * WIDTH; i++)
        mine[i] = rank + i;
    hid_t access = H5Pcreate(H5P_FILE_ACCESS), transfer = H5Pcreate(H5P_DATASET_XFER);
    H5Pset_fapl_mpio(access, MPI_COMM_WORLD, MPI_INFO_NULL);
    H5Pset_dxpl_mpio(transfer, cured ? H5FD_MPIO_COLLECTIVE : H5FD_MPIO_INDEPENDENT);
    hid_t file = H5Fcreate("columns.h5", H5F_ACC_TRUNC, H5P_DEFAULT, access);
    hsize_t all[2] = {ROWS, WIDTH * ranks}, part[2] = {cured ? ROWS : 1, WIDTH}, start[2] = {0, WIDTH * rank};
    hid_t space = H5Screate_simple(2, all, NULL), memory = H5Screate_simple(2, part, NULL);
    hid_t data = H5Dcreate2(file, "columns", H5T_NATIVE_DOUBLE, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    for (hsize_t row = 0; row < ROWS; row += part[0]) {
        start[0] = row;
        H5Sselect_hyperslab(space, H5S_SELECT_SET, start, NULL, part, NULL);
        H5Dwrite(data, H5T_NATIVE_DOUBLE, memory, space, transfer, mine + row * WIDTH);
    }
    H5Dclose(data);
    H5Fclose(file);
    if (!rank)
        puts("columns written");
    MPI_Finalize();
    return 0;
}
