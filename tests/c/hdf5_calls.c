/* Makes every wrapped call of HDF5 on files in the folder argv[1]; each process prints the values that the
 * log must have as "NAME module counter value". Run with any number of processes, of which each makes the
 * same calls on the shared file; the lone file is rank 0's. */
/* Chooses the calls with their names and arguments of HDF5 1.10, which every later release has. */
#define H5_USE_110_API
#include <hdf5.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { ROWS = 12, COLUMNS = 10, HALF = 5 };

static int rank, ranks;

static void check(int good, const char *what)
{
    if (!good) {
        fprintf(stderr, "hdf5_calls: %s failed\n", what);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
}

static void expect(const char *name, const char *module, const char *counter, long long value)
{
    if (rank == 0)
        printf("%s %s %s %lld\n", name, module, counter, value);
}

/* Writes and reads a shared file by collective calls. Every rank gets equally many rows of the array; rows
 * that are left over belong to no rank. */
static void shared_file(const char *folder)
{
    char path[4096];
    double data[ROWS * COLUMNS] = {0};
    hsize_t size[2] = {ROWS, COLUMNS}, chunk[2] = {3, COLUMNS};
    hsize_t start[2] = {(hsize_t)(rank * (ROWS / ranks)), 0}, count[2] = {(hsize_t)(ROWS / ranks), HALF},
            stride[2] = {1, 2};
    snprintf(path, sizeof path, "%s/shared.h5", folder);
    hid_t access = H5Pcreate(H5P_FILE_ACCESS), creation = H5Pcreate(H5P_DATASET_CREATE);
    hid_t transfer = H5Pcreate(H5P_DATASET_XFER);
    H5Pset_fapl_mpio(access, MPI_COMM_WORLD, MPI_INFO_NULL);
    H5Pset_chunk(creation, 2, chunk);
    H5Pset_dxpl_mpio(transfer, H5FD_MPIO_COLLECTIVE);
    hid_t file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, access);
    check(file >= 0, "H5Fcreate");
    hid_t space = H5Screate_simple(2, size, NULL), part = H5Screate_simple(2, size, NULL);
    hid_t memory = H5Screate_simple(2, count, NULL);
    hid_t group = H5Gcreate2(file, "group", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    hid_t set = H5Dcreate2(group, "field", H5T_NATIVE_DOUBLE, space, H5P_DEFAULT, creation, H5P_DEFAULT);
    H5Sselect_hyperslab(part, H5S_SELECT_SET, start, stride, count, NULL);
    for (int i = 0; i < 3; i++)
        check(H5Dwrite(set, H5T_NATIVE_DOUBLE, memory, part, transfer, data) >= 0, "H5Dwrite");
    check(H5Dread(set, H5T_NATIVE_DOUBLE, memory, part, transfer, data) >= 0, "H5Dread");
    check(H5Fflush(file, H5F_SCOPE_GLOBAL) >= 0, "H5Fflush");
    H5Dclose(set);
    H5Gclose(group);
    H5Fclose(file);
    long long bytes = 8LL * (ROWS / ranks) * HALF;
    expect("/shared.h5", "H5F", "H5F_OPENS", ranks);
    expect("/shared.h5", "H5F", "H5F_FLUSHES", ranks);
    expect("/shared.h5", "H5F", "H5F_USE_MPIIO", 1);
    const char *name = "/shared.h5:/group/field";
    expect(name, "H5D", "H5D_OPENS", ranks);
    expect(name, "H5D", "H5D_WRITES", 3 * ranks);
    expect(name, "H5D", "H5D_READS", ranks);
    expect(name, "H5D", "H5D_BYTES_WRITTEN", 3 * ranks * bytes);
    expect(name, "H5D", "H5D_BYTES_READ", ranks * bytes);
    expect(name, "H5D", "H5D_RW_SWITCHES", ranks);
    expect(name, "H5D", "H5D_REGULAR_HYPERSLAB_SELECTS", 4 * ranks);
    expect(name, "H5D", "H5D_SIZE_WRITE_AGG_100_1K", bytes > 100 ? 3 * ranks : 0);
    expect(name, "H5D", "H5D_ACCESS1_ACCESS", bytes);
    expect(name, "H5D", "H5D_ACCESS1_LENGTH_D1", HALF);
    expect(name, "H5D", "H5D_ACCESS1_LENGTH_D2", ROWS / ranks);
    expect(name, "H5D", "H5D_ACCESS1_LENGTH_D3", 0);
    expect(name, "H5D", "H5D_ACCESS1_STRIDE_D1", 2);
    expect(name, "H5D", "H5D_ACCESS1_STRIDE_D2", 1);
    expect(name, "H5D", "H5D_ACCESS1_COUNT", 4 * ranks);
    expect(name, "H5D", "H5D_DATASPACE_NDIMS", 2);
    expect(name, "H5D", "H5D_DATASPACE_NPOINTS", ROWS * COLUMNS);
    expect(name, "H5D", "H5D_DATATYPE_SIZE", 8);
    expect(name, "H5D", "H5D_CHUNK_SIZE_D1", COLUMNS);
    expect(name, "H5D", "H5D_CHUNK_SIZE_D2", 3);
    expect(name, "H5D", "H5D_USE_MPIIO_COLLECTIVE", 1);
    expect(name, "H5D", "H5D_USE_DEPRECATED", 0);
}

/* Uses selections of every kind, and every way to open a dataset, on a file of one process. */
static void lone_file(const char *folder)
{
    char path[4096];
    int data[COLUMNS] = {0};
    hsize_t size = COLUMNS, points[3] = {1, 4, 7}, two = 2, first = 0, far = 6, three = 3;
    H5O_info_t info;
    snprintf(path, sizeof path, "%s/lone.h5", folder);
    hid_t file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    hid_t space = H5Screate_simple(1, &size, NULL), three_points = H5Screate_simple(1, &three, NULL);
    hid_t four_points = H5Screate_simple(1, (hsize_t[]){4}, NULL);
    hid_t set = H5Dcreate1(file, "line", H5T_NATIVE_INT, space, H5P_DEFAULT);
    check(set >= 0 && H5Dwrite(set, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, H5P_DEFAULT, data) >= 0, "writing all");
    H5Sselect_elements(space, H5S_SELECT_SET, 3, points);
    check(H5Dwrite(set, H5T_NATIVE_INT, three_points, space, H5P_DEFAULT, data) >= 0, "writing points");
    H5Sselect_hyperslab(space, H5S_SELECT_SET, &first, NULL, &two, NULL);
    H5Sselect_hyperslab(space, H5S_SELECT_OR, &far, NULL, (hsize_t[]){1}, NULL);
    H5Sselect_hyperslab(space, H5S_SELECT_OR, (hsize_t[]){9}, NULL, (hsize_t[]){1}, NULL);
    check(H5Dread(set, H5T_NATIVE_INT, four_points, space, H5P_DEFAULT, data) >= 0, "reading pieces");
    check(H5Dflush(set) >= 0, "H5Dflush");
    H5Oget_info(set, &info);
    H5Dclose(set);
    H5Fclose(file);
    file = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT);
    H5Dclose(H5Dopen1(file, "line"));
    H5Dclose(H5Dopen2(file, "line", H5P_DEFAULT));
    H5Oclose(H5Oopen(file, "line", H5P_DEFAULT));
    H5Oclose(H5Oopen_by_addr(file, info.addr));
    H5Oclose(H5Oopen_by_idx(file, "/", H5_INDEX_NAME, H5_ITER_INC, 0, H5P_DEFAULT));
    H5Fclose(file);
    expect("/lone.h5", "H5F", "H5F_OPENS", 2);
    expect("/lone.h5", "H5F", "H5F_USE_MPIIO", 0);
    const char *name = "/lone.h5:/line";
    expect(name, "H5D", "H5D_OPENS", 6);
    expect(name, "H5D", "H5D_WRITES", 2);
    expect(name, "H5D", "H5D_READS", 1);
    expect(name, "H5D", "H5D_FLUSHES", 1);
    expect(name, "H5D", "H5D_BYTES_WRITTEN", 4 * (COLUMNS + 3));
    expect(name, "H5D", "H5D_BYTES_READ", 4 * 4);
    expect(name, "H5D", "H5D_RW_SWITCHES", 1);
    expect(name, "H5D", "H5D_POINT_SELECTS", 1);
    expect(name, "H5D", "H5D_IRREGULAR_HYPERSLAB_SELECTS", 1);
    expect(name, "H5D", "H5D_REGULAR_HYPERSLAB_SELECTS", 0);
    expect(name, "H5D", "H5D_USE_DEPRECATED", 1);
    expect(name, "H5D", "H5D_USE_MPIIO_COLLECTIVE", 0);
    expect(name, "H5D", "H5D_CHUNK_SIZE_D1", 0);
}

/* Makes datasets that are written before they have a name, that get the same name twice, that never get a
 * name, and that stay open only because of a reference count, as in netCDF. */
static void nameless_datasets(const char *folder)
{
    char path[4096];
    int data[COLUMNS] = {0};
    hsize_t size = COLUMNS;
    snprintf(path, sizeof path, "%s/late.h5", folder);
    hid_t file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    hid_t space = H5Screate_simple(1, &size, NULL), set[3];
    for (int i = 0; i < 3; i++) {
        set[i] = H5Dcreate_anon(file, H5T_NATIVE_INT, space, H5P_DEFAULT, H5P_DEFAULT);
        check(H5Dwrite(set[i], H5T_NATIVE_INT, H5S_ALL, H5S_ALL, H5P_DEFAULT, data) >= 0, "nameless");
    }
    for (int i = 0; i < 2; i++) {
        check(H5Olink(set[i], file, "late", H5P_DEFAULT, H5P_DEFAULT) >= 0, "H5Olink");
        check(H5Dwrite(set[i], H5T_NATIVE_INT, H5S_ALL, H5S_ALL, H5P_DEFAULT, data) >= 0, "named");
        H5Ldelete(file, "late", H5P_DEFAULT);
    }
    for (int i = 0; i < 3; i++)
        H5Dclose(set[i]);
    hid_t held = H5Dcreate2(file, "held", H5T_NATIVE_INT, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    H5Iinc_ref(held);
    H5Oclose(held);
    check(H5Dwrite(held, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, H5P_DEFAULT, data) >= 0, "held");
    H5Dclose(held);
    H5Fclose(file);
    expect("/late.h5:/late", "H5D", "H5D_OPENS", 2);
    expect("/late.h5:/late", "H5D", "H5D_WRITES", 4);
    expect("/late.h5:/late", "H5D", "H5D_BYTES_WRITTEN", 4 * 4 * COLUMNS);
    expect("/late.h5:/late", "H5D", "H5D_ACCESS1_ACCESS", 4 * COLUMNS);
    expect("/late.h5:/late", "H5D", "H5D_ACCESS1_COUNT", 4);
    expect("/late.h5:", "H5D", "H5D_WRITES", 1);
    expect("/late.h5:/held", "H5D", "H5D_WRITES", 1);
}

int main(int argc, char **argv)
{
    check(argc == 2, "one argument");
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    shared_file(argv[1]);
    if (rank == 0) {
        lone_file(argv[1]);
        nameless_datasets(argv[1]);
    }
    MPI_Finalize();
    return 0;
}
