/* The files of a checkpoint, written and read by the writers, one slab at a time.
 *
 * Shared: one file `checkpoint.nc4` or `.bin`. Split: `checkpoint_NNN.*` for writer NNN with its own
 * latitudes alone. netCDF: dimensions lon, lat, lev and variables `float VARnnn(lev, lat, lon)`. Binary: one
 * sequential Fortran record (its bytes between two 4-byte counts) for each level of each array, or for each
 * array when whole fields are moved; several writers of one file put their latitudes into the same records.
 * Only writers call the operations, which note an error in the store and continue. */
#ifndef CHECKPOINT_STORE_H
#define CHECKPOINT_STORE_H

#include <limits.h>

#include "cube.h"

enum { FORTRAN_RECORD_MAX = INT_MAX - 8 };

typedef struct Store Store;

typedef struct Format {
    bool present;   /* True if this build supports the file type. */
    bool ends_well; /* True if files can be closed after a failed write. */
    const char *suffix;
    /* Functions of the file type; `open` and `close` are collective over the writers. */
    void (*open)(Store *store, bool writing);
    void (*move)(Store *store, bool writing, int array, int level,
                 float *slab); /* Writes or reads store->levels levels of an array, beginning with `level`. */
    void (*close)(Store *store);
} Format;

struct Store {
    const Format *format;
    const char *directory;
    const Problem *problem;
    const Cube *cube;
    MPI_Info info;
    bool collective; /* True if netCDF accesses are collective. */
    char path[PATH_MAX];
    Block latitudes;    /* Latitudes of this writer in its file. */
    int file_latitudes; /* Latitudes of the whole file. */
    int levels;         /* Number of levels that one read or write moves. */
    int files;
    bool opened, writing; /* `opened`: true while the file is open. `writing`: true if it was last opened for
                           * writing. */
    bool begun;           /* True if this run has created files on the disk. */
    long long calls;      /* Number of slabs written or read so far. */
    Trouble trouble;
    int id; /* Id of the open file: netCDF's, or a descriptor. */
};

extern const Format FORMAT_NETCDF, FORMAT_BINARY;

/* Writes the path of writer `number`'s file, or of the shared file, into `path`. */
void store_path(const Store *store, int number, char path[PATH_MAX]);

/* Makes the store. Collective over all ranks; ends the program if a name is invalid. */
void store_make(Store *store, const Config *config, const Cube *cube);

/* Ends the program if the data does not fit on the disk; called before the first file is opened. Collective
 * over all ranks. */
void store_ready(Store *store, bool writing);

void store_open(Store *store, bool writing);
void store_move(Store *store, bool writing, int array, int level, float *slab);
void store_close(Store *store);

/* Removes the file of one writer and aborts the job, because the other writers wait inside a library. */
_Noreturn void store_abandon(const Store *store);

/* Removes the data files. Collective over all ranks. */
void store_remove(Store *store);

/* If any rank noted an error, removes the files that this run wrote and ends the program. Collective over all
 * ranks. */
void store_check(Store *store);

/* Removes the unfinished files of a job when its launcher ends it by SIGTERM, SIGINT or SIGHUP. Afterwards
 * the signal has its usual effect. */

void abandon_add(const char *path);

/* Cancels the removal, because the files are complete or already removed. */
void abandon_none(void);

#endif
