/* The part of HDF5's interface (from version 1.10 on) that is needed here, provided by the program's own
 * library. The profiler does not link HDF5; in a program without HDF5 this code never runs. A process may
 * hold several HDF5 libraries, each behind an extension module of its own (h5py and netCDF4): a call is
 * passed on to the library of its caller, and this library is asked about the call. */
#ifndef IOLENS_HDF5_API_H
#define IOLENS_HDF5_API_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

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

#endif
