/* Writes HDF5 files in several ways, and prints what HDF5 itself says about them: `address PATH BYTES` for
 * each dataset, `cause PATH LOCAL GLOBAL` for each collective write as the bits of
 * H5Pget_mpio_no_collective_cause, and `errors N`, the depth of the error stack after an open that failed.
 * Usage: hdf5_given FOLDER [at-once]. With `at-once` the program skips the handlers of exit. */
#include <hdf5.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { EACH = 40000 };

static int rank, ranks;

static herr_t deeper(unsigned n, const H5E_error2_t *error, void *count)
{
    (void)n, (void)error;
    ++*(int *)count;
    return 0;
}

static void failing_open(const char *folder)
{
    char path[4096];
    int depth = 0;
    snprintf(path, sizeof path, "%s/absent.h5", folder);
    H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
    if (H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT) >= 0)
        abort();
    H5Ewalk2(H5E_DEFAULT, H5E_WALK_DOWNWARD, deeper, &depth);
    if (rank == 0)
        printf("errors %d\n", depth);
}

/* Writes this rank's part of a dataset of ranks * EACH floats, from memory of the given type. */
static void dataset(hid_t file, const char *name, hid_t memory_type, hsize_t chunk, int deflate,
                    int collective)
{
    hsize_t size = (hsize_t)ranks * EACH, each = EACH, begin = (hsize_t)rank * EACH;
    void *data = calloc(EACH, 8);
    uint32_t local = 0, global = 0;
    hid_t creation = H5Pcreate(H5P_DATASET_CREATE), transfer = H5Pcreate(H5P_DATASET_XFER);
    if (chunk)
        H5Pset_chunk(creation, 1, &chunk);
    if (deflate)
        H5Pset_deflate(creation, 1);
    if (collective)
        H5Pset_dxpl_mpio(transfer, H5FD_MPIO_COLLECTIVE);
    hid_t space = H5Screate_simple(1, &size, NULL), part = H5Screate_simple(1, &each, NULL);
    hid_t set = H5Dcreate2(file, name, H5T_NATIVE_FLOAT, space, H5P_DEFAULT, creation, H5P_DEFAULT);
    H5Sselect_hyperslab(space, H5S_SELECT_SET, &begin, NULL, &each, NULL);
    if (H5Dwrite(set, memory_type, part, space, transfer, data) < 0)
        abort();
    H5Pget_mpio_no_collective_cause(transfer, &local, &global);
    if (collective)
        printf("cause /%s %d %u %u\n", name, rank, local, global);
    if (rank == 0 && !chunk)
        printf("address /%s %llu\n", name, (unsigned long long)H5Dget_offset(set));
    H5Dclose(set), H5Sclose(part), H5Sclose(space), H5Pclose(creation), H5Pclose(transfer);
    free(data);
}

static void shared_file(const char *folder, unsigned own_block)
{
    char path[4096];
    hid_t access = H5Pcreate(H5P_FILE_ACCESS);
    snprintf(path, sizeof path, "%s/shared.h5", folder);
    H5Pset_fapl_mpio(access, MPI_COMM_WORLD, MPI_INFO_NULL);
    H5Pset_meta_block_size(access, own_block);
    hid_t file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, access);
    if (file < 0)
        abort();
    dataset(file, "plain", H5T_NATIVE_FLOAT, 0, 0, 1);
    dataset(file, "converted", H5T_NATIVE_DOUBLE, 0, 0, 1);
    dataset(file, "chunked", H5T_NATIVE_FLOAT, EACH, 0, 1);
    dataset(file, "filtered", H5T_NATIVE_FLOAT, EACH, 1, 1);
    dataset(file, "alone", H5T_NATIVE_FLOAT, 0, 0, 0);
    H5Fclose(file);
    file = H5Fopen(path, H5F_ACC_RDONLY, access);
    for (int i = 0; i < 3; i++)
        H5Dclose(H5Dopen2(file, i ? "plain" : "chunked", H5P_DEFAULT));
    H5Fclose(file);
    H5Pclose(access);
}

/* Makes a file of rank 0 alone, with HDF5's default list of properties. */
static void own_file(const char *folder)
{
    char path[4096];
    hsize_t size = 100000;
    snprintf(path, sizeof path, "%s/own.h5", folder);
    hid_t file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT),
          space = H5Screate_simple(1, &size, NULL);
    for (int i = 0; i < 2; i++) {
        char name[] = "own0";
        name[3] += (char)i;
        hid_t creation = H5Pcreate(H5P_DATASET_CREATE);
        H5Pset_alloc_time(creation, H5D_ALLOC_TIME_EARLY);
        hid_t set = H5Dcreate2(file, name, H5T_NATIVE_DOUBLE, space, H5P_DEFAULT, creation, H5P_DEFAULT);
        printf("address /%s %llu\n", name, (unsigned long long)H5Dget_offset(set));
        H5Dclose(set), H5Pclose(creation);
    }
    H5Sclose(space), H5Fclose(file);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    failing_open(argv[1]);
    shared_file(argv[1], 4096);
    if (rank == 0)
        own_file(argv[1]);
    MPI_Finalize();
    fflush(stdout);
    if (argc > 2) /* A library of HDF5 hangs in exit under AddressSanitizer, also without the profiler. */
        _exit(0);
    return argc < 2;
}
