/* The data file of a run, written and read one dump at a time by one of BT-IO's methods.
 *
 * A dump is the whole field as native doubles without a header; component m of point (x,y,z) of dump d is at
 * byte 8 * (m + 5 * (x + nx * (y + ny * (z + nz * d)))). Only epio keeps a file for each process, as a
 * sequence of Fortran records, one for each cell. Operations note an error in the store and continue; the
 * caller then asks all ranks for errors. */
#ifndef BTIO_STORE_H
#define BTIO_STORE_H

#include <limits.h>

#include "config.h"
#include "domain.h"

typedef struct Store Store;

typedef struct Method {
    const char *name;
    const char *title; /* Name of the method as NPB prints it. */
    bool own_file;     /* True if each process has its own file. */
    /* Functions of the method, which are collective; `open` is NULL if the method does no I/O. */
    void (*open)(Store *store, bool writing);
    void (*write)(Store *store, int dump); /* Writes a dump from store->buffer. */
    void (*read)(Store *store, int dump);  /* Reads a dump into store->buffer. */
    void (*close)(Store *store);
} Method;

enum { EPIO_RECORD_EXTRA = 8 };

struct Store {
    const Method *method;
    const Domain *domain;
    MPI_Info info;
    const Hints *hints;
    bool flush;    /* True if the file is to be flushed before the next close. */
    bool borrowed; /* True if the file belongs to an earlier run; such a file is never removed. */
    char path[PATH_MAX];
    double *buffer;  /* One dump of this rank: its cells one after the other, each as [z][y][x][component]. */
    long long calls; /* Number of reads or writes since the file was opened. */
    Trouble trouble;
    Hints effective;              /* Hints that the open file reported. */
    MPI_File file;                /* The open file; only for the methods full and simple. */
    MPI_Datatype point, cells;    /* Element type and file type; only for the method full. */
    int descriptor;               /* The open file; only for the methods epio and fortran. */
    char *record;                 /* Memory for a cell with its record markers; only for the method epio. */
    struct TwoPhaseRows *through; /* State of the method full with the lustre-like driver. */
};

extern const Method METHOD_FULL, METHOD_SIMPLE, METHOD_EPIO, METHOD_FORTRAN;
/* The method full with --mpiio-driver lustre-like, which uses the toolkit's own two-phase transfers in place
 * of MPI-IO. */
extern const Method METHOD_TWO_PHASE;
extern const char METHOD_NAMES[];

const Method *method_named(const char *name);

void store_make(Store *store, const Config *config, const Domain *domain);

/* Removes files of an earlier run, then creates the file. Collective. */
void store_create(Store *store);

/* Opens an existing file for reading; it must hold `dumps` dumps. Collective. */
void store_reopen(Store *store, int dumps);

/* Closes the file. Collective. */
void store_close(Store *store);

/* Removes the data files if this run created them. Collective. */
void store_remove(Store *store);

/* If any rank noted an error, removes the run's data files and ends the program. Collective. */
void store_check(Store *store);

/* Copies the values of all own points in u to the buffer, and adds `shift` to each. */
void store_pack(Store *store, double shift);

/* Copies the buffer to u. */
void store_unpack(const Store *store);

/* Returns how many values in this rank's buffer are not exactly the value of u plus `shift`. */
long long store_differences(const Store *store, double shift);

/* Returns the number of the first point of a cell's row in the file, where dump 0 begins with point 0. */
long long file_point(const Domain *domain, const Cell *cell, int y, int z, int dump);

/* Opens the file with the hints and sets the view with the same hints, because some libraries use them only
 * there. */
void mpi_open(Store *store, bool writing, MPI_Datatype etype, MPI_Datatype view);

/* Counts a call of MPI-IO, and notes an error if it failed or moved fewer than `wanted` items of `type`. */
void mpi_moved(Store *store, int code, const MPI_Status *status, MPI_Datatype type, int wanted,
               const char *verb);

void mpi_close(Store *store);

/* Opens a shared file, which rank 0 creates before the others open it. */
void posix_open(Store *store, bool writing);

/* Moves all `bytes` at `offset`, by one call unless the kernel moves less. Notes the reason of a failure. */
void posix_write(Store *store, const void *from, size_t bytes, long long offset);
void posix_read(Store *store, void *to, size_t bytes, long long offset);

void posix_close(Store *store);

#endif
