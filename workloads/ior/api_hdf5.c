/* HDF5: one one-dimensional data set of 64-bit integers for each segment, moved by hyperslabs. */
#ifdef HAVE_HDF5
#include <hdf5.h>
#include <stdlib.h>

#include "api.h"

typedef struct Opened {
    hid_t file, transfers, space, *sets;
    int64_t segments;
} Opened;

static hid_t file_access(const Target *target)
{
    const Settings *s = target->settings;
    MPI_Info info = hints_info(&s->hints);
    hid_t access = H5Pcreate(H5P_FILE_ACCESS);
    H5Pset_fapl_mpio(access, target->comm, info);
    if (s->alignment > 1)
        H5Pset_alignment(access, 1, (hsize_t)s->alignment);
    if (info != MPI_INFO_NULL)
        MPI_Info_free(&info);
    return access;
}

static hid_t open_set(const Opened *opened, const Target *target, int64_t segment, hid_t creation)
{
    char name[64];
    snprintf(name, sizeof name, "Dataset-%04lld.%04d", (long long)segment, 0);
    return target->writing ? H5Dcreate2(opened->file, name, H5T_NATIVE_LLONG, opened->space, H5P_DEFAULT,
                                        creation, H5P_DEFAULT)
                           : H5Dopen2(opened->file, name, H5P_DEFAULT);
}

static void *hdf5_open(Target *target, Trouble *trouble)
{
    const Settings *s = target->settings;
    Opened *opened = allocate(1, sizeof *opened);
    hsize_t words = (hsize_t)(s->block * target->sharers / 8);
    hid_t access = file_access(target), creation = H5Pcreate(H5P_DATASET_CREATE);
    H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
    if (s->no_fill)
        H5Pset_fill_time(creation, H5D_FILL_TIME_NEVER);
    opened->transfers = H5Pcreate(H5P_DATASET_XFER);
    H5Pset_dxpl_mpio(opened->transfers, s->collective ? H5FD_MPIO_COLLECTIVE : H5FD_MPIO_INDEPENDENT);
    opened->space = H5Screate_simple(1, &words, NULL);
    opened->sets = allocate((size_t)s->segments, sizeof *opened->sets);
    opened->file = target->writing ? H5Fcreate(target->path, H5F_ACC_TRUNC, H5P_DEFAULT, access)
                                   : H5Fopen(target->path, H5F_ACC_RDONLY, access);
    if (opened->file < 0)
        trouble_note(trouble, "HDF5 cannot open %s", target->path);
    for (; opened->segments < s->segments && !trouble->any; opened->segments++) {
        opened->sets[opened->segments] = open_set(opened, target, opened->segments, creation);
        if (opened->sets[opened->segments] < 0)
            trouble_note(trouble, "HDF5 cannot open data set %lld of %s", (long long)opened->segments,
                         target->path);
    }
    H5Pclose(access);
    H5Pclose(creation);
    return opened;
}

static bool hdf5_transfer(void *file, const Target *target, char *buffer, int64_t bytes, int64_t offset,
                          Trouble *trouble)
{
    Opened *opened = file;
    int64_t segment_bytes = target->settings->block * target->sharers;
    hid_t set = opened->sets[offset / segment_bytes];
    hsize_t start = (hsize_t)(offset % segment_bytes / 8), count = (hsize_t)(bytes / 8);
    hid_t memory = H5Screate_simple(1, &count, NULL);
    H5Sselect_hyperslab(opened->space, H5S_SELECT_SET, &start, NULL, &count, NULL);
    herr_t code = target->writing
                      ? H5Dwrite(set, H5T_NATIVE_LLONG, memory, opened->space, opened->transfers, buffer)
                      : H5Dread(set, H5T_NATIVE_LLONG, memory, opened->space, opened->transfers, buffer);
    H5Sclose(memory);
    if (code < 0)
        trouble_note(trouble, "HDF5 cannot %s %lld bytes at offset %lld of %s",
                     target->writing ? "write" : "read", (long long)bytes, (long long)offset, target->path);
    return code >= 0;
}

static void hdf5_sync(void *file, const Target *target, Trouble *trouble)
{
    if (H5Fflush(((Opened *)file)->file, H5F_SCOPE_LOCAL) < 0)
        trouble_note(trouble, "HDF5 cannot flush %s", target->path);
}

static void hdf5_close(void *file, const Target *target, Trouble *trouble)
{
    Opened *opened = file;
    herr_t code = 0;
    for (int64_t i = 0; i < opened->segments; i++)
        if (opened->sets[i] >= 0)
            code = H5Dclose(opened->sets[i]) < 0 ? -1 : code;
    H5Sclose(opened->space);
    H5Pclose(opened->transfers);
    if (opened->file >= 0)
        code = H5Fclose(opened->file) < 0 ? -1 : code;
    if (code < 0 && !trouble->any)
        trouble_note(trouble, "HDF5 cannot close %s", target->path);
    free(opened->sets);
    free(opened);
}

const Api API_HDF5 = {"HDF5", true, hdf5_open, hdf5_transfer, hdf5_sync, hdf5_close, api_unlink};
#endif
