/* The records of HDF5 files and datasets, and the events of their wrapped functions. */
#ifndef IOLENS_HDF5_H
#define IOLENS_HDF5_H

#include "../../system/path.h"
#include "../../runtime/wrap.h"
#include "../dataset.h"
#include "hdf5_api.h"
#include "../../records/shape.h"

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

#endif
