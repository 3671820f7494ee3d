/* The records of HDF5 files and datasets, and the events of their wrapped functions. */
#ifndef IOLENS_HDF5_H
#define IOLENS_HDF5_H

#include "../../records/shape.h"
#include "../../runtime/wrap.h"
#include "../../system/path.h"
#include "../dataset.h"

/* The part of HDF5's interface (from version 1.10 on) that is needed here, provided by the program's own
 * library. The profiler does not link HDF5; in a program without HDF5 this code never runs. A process may
 * hold several HDF5 libraries, each behind an extension module of its own (h5py and netCDF4): a call is
 * passed on to the library of its caller, and this library is asked about the call. */

typedef int64_t hid_t;
typedef int herr_t, htri_t;
typedef unsigned long long hsize_t;
typedef long long hssize_t;
typedef unsigned long haddr_t;
typedef struct {
    uint8_t bytes[16];
} h5_token_t;

enum {
    HDF5_DEFAULT = 0, /* H5P_DEFAULT, H5S_ALL and H5ES_NONE */
    HDF5_DATASET = 5, /* H5I_DATASET */
    HDF5_POINTS = 1,  /* H5S_SEL_POINTS */
    HDF5_HYPERSLABS = 2,
    HDF5_CHUNKED = 2,    /* H5D_CHUNKED */
    HDF5_COLLECTIVE = 1, /* H5FD_MPIO_COLLECTIVE */
    HDF5_RANK_MOST = 32  /* H5S_MAX_RANK */
};

struct hdf5_calls {
#define ASK(ret_t, name, params) ret_t(*name) params;
#include "hdf5_calls.def"
#undef ASK
};

/* Returns the function of this name in the HDF5 library that `caller` uses. From now on, that is the library
 * in use in this thread. Returns NULL if the process holds only one library, or if the caller's library is
 * unknown. */
void *hdf5_of_caller(const char *name, const void *caller);

/* Returns the library in use; NULL if it is too old to be recorded, which is reported once, or if there
 * are too many libraries. */
const struct hdf5_calls *hdf5_calls(void);

/* Returns true if an operation of this event set may still be under way. The recorder then asks nothing about
 * the operation's objects, because HDF5 would answer only after the operation. */
bool hdf5_under_way(hid_t events);

/* Returns the key of an object of the library in use: its handle, changed so that handles of different
 * libraries never give the same key. */
int64_t hdf5_key(hid_t object);

enum h5f_int {
#define INT(name, merge) H5F_##name,
#define DOUBLE(name, merge)
#include "h5f_counters.def"
#undef INT
#undef DOUBLE
    H5F_INTS
};

enum h5f_double {
#define INT(name, merge)
#define DOUBLE(name, merge) H5F_F_##name,
#include "h5f_counters.def"
#undef INT
#undef DOUBLE
    H5F_DOUBLES
};

struct h5f_state {
    struct record_base base;
    int64_t ints[H5F_INTS];
    double doubles[H5F_DOUBLES];
    struct spin lock;
    double last_end;
};

enum h5d_int {
#define INT(name, merge) H5D_##name,
#define DOUBLE(name, merge)
#include "h5d_counters.def"
#undef INT
#undef DOUBLE
    H5D_INTS
};

enum h5d_double {
#define INT(name, merge)
#define DOUBLE(name, merge) H5D_F_##name,
#include "h5d_counters.def"
#undef INT
#undef DOUBLE
    H5D_DOUBLES
};

struct h5d_state {
    struct record_base base;
    int64_t ints[H5D_INTS];
    double doubles[H5D_DOUBLES];
    struct dataset dataset;
    bool nameless;      /* True if the dataset is not in the registry yet. */
    struct file *named; /* The dataset's entry in the registry; used by the recording process alone. */
};

_Static_assert(offsetof(struct h5d_state, dataset) <= SHAPE_MOST_BYTES,
               "SHAPE_MOST_BYTES must have room for the record of an HDF5 dataset");

/* Writes the absolute path of the file that an object belongs to; returns false if there is none. */
bool hdf5_path(char path[PATH_BYTES], hid_t object);

/* Returns true if files that are opened with this access list are accessed through MPI-IO. */
bool hdf5_through_mpi(hid_t access);

void hdf5_on_open(const struct call *c, hid_t file, hid_t access);
void hdf5_on_flush(const struct call *c, hid_t object);
void hdf5_before_close(struct call *c, hid_t file);
void hdf5_on_close(const struct call *c);

void hdf5_on_dataset(const struct call *c, hid_t dataset, bool deprecated);
void hdf5_on_object(const struct call *c, hid_t object);
void hdf5_on_transfer(const struct call *c, hid_t dataset, hid_t selection, hid_t transfer, bool writing);

/* The datasets of one call, and the selection in each of them. */
struct datasets {
    size_t count;
    const hid_t *dataset, *selection;
};

/* Records a transfer of several datasets. Each of them has a share of the call's time in proportion to its
 * bytes. */
void hdf5_on_transfers(const struct call *c, struct datasets all, hid_t transfer, bool writing);

/* Counts why a transfer that was requested as collective was not carried out collectively. `dataset` is
 * its record, which may be NULL. */
void hdf5_on_collective(const struct call *c, struct file *dataset, hid_t transfer);
void hdf5_on_dataset_flush(const struct call *c, hid_t dataset);
void hdf5_before_dataset_close(struct call *c, hid_t object);
/* Gives a dataset without a name its record when it is linked into the file, or closed. */
void hdf5_on_nameless(const struct call *c, hid_t dataset);
void hdf5_on_link(hid_t object);

/* Notes that a handle of a dataset was closed. The handle `object` stays known while another handle or object
 * keeps it open. */
void hdf5_on_dataset_close(const struct call *c, hid_t object);

/* The settings in force, in the form of runtime/given.c; NULL: there are none. Ranks of a job have those of
 * rank 0. */
extern const char *iolens_hdf5_given;

/* Returns the list to open the file `path` with: `access` itself, or a copy with the settings for this path,
 * which hdf5_after_open closes. */
hid_t hdf5_given_access(struct call *c, const char *path, hid_t access);

/* Records the settings with which `file` was opened. A negative `file` means that opening it failed. */
void hdf5_after_open(const struct call *c, hid_t file);

#endif
