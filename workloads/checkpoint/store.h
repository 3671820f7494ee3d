/* The files of a checkpoint, written and read by the writers, one slab at a time.
 *
 * Shared: one file `checkpoint.nc4` or `.bin`. Split: `checkpoint_NNN.*` for writer NNN with its own
 * latitudes alone. netCDF: dimensions lon, lat, lev and variables `float VARnnn(lev, lat, lon)`. Binary: one
 * sequential Fortran record (its bytes between two 4-byte counts) for each level of each array, or for each
 * array when whole fields are moved; several writers of one file put their latitudes into the same records.
 * Operations are called by writers alone, note trouble in the store and go on. */
#ifndef CHECKPOINT_STORE_H
#define CHECKPOINT_STORE_H

#include "cube.h"

#include <limits.h>

enum { FORTRAN_RECORD_MAX = INT_MAX - 8 };

typedef struct Store Store;

typedef struct Format {
    bool present;   /* in this build */
    bool ends_well; /* files can be closed after a failed write */
    const char *suffix;
    void (*open)(Store *store, bool writing); /* collective over the writers, as is close */
    void (*move)(Store *store, bool writing, int array, int level,
                 float *slab); /* store->levels from level */
    void (*close)(Store *store);
} Format;

struct Store {
    const Format *format;
    const char *directory;
    const Problem *problem;
    const Cube *cube;
    MPI_Info info;
    bool collective; /* netCDF: collective access */
    char path[PATH_MAX];
    Block latitudes;    /* of this writer, in its file */
    int file_latitudes; /* of the whole file */
    int levels;         /* in one move */
    int files;
    bool opened, writing; /* what it is open for, or was last */
    bool begun;           /* files of this run are there */
    long long calls;      /* moves so far */
    Trouble trouble;
    int id; /* netCDF's, or a file descriptor */
};

extern const Format FORMAT_NETCDF, FORMAT_BINARY;

/* Path of writer `number`'s file, the same for all where it is shared. */
void store_path(const Store *store, int number, char path[PATH_MAX]);

/* Collective over all ranks, and ends the program on bad names. */
void store_make(Store *store, const Config *config, const Cube *cube);

/* Before the first file is opened: ends the program where the data does not fit. Collective over all ranks.
 */
void store_ready(Store *store, bool writing);

void store_open(Store *store, bool writing);
void store_move(Store *store, bool writing, int array, int level, float *slab);
void store_close(Store *store);

/* Removes the file of one writer and aborts the job; for a writer on which others wait inside a library. */
_Noreturn void store_abandon(const Store *store);

/* Removes the data files. Collective over all ranks. */
void store_remove(Store *store);

/* Ends the program, files that this run wrote removed, when any rank has trouble. Collective over all ranks.
 */
void store_check(Store *store);

#endif
