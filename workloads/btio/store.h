/* The data file of a run, written and read one dump at a time by one of BT-IO's methods.
 *
 * A dump is the whole field as native doubles without a header; component m of point (x,y,z) of dump d is at
 * byte 8 * (m + 5 * (x + nx * (y + ny * (z + nz * d)))). Only epio keeps a file for each process, as a
 * sequence of Fortran records, one for each cell. Operations note trouble in the store and go on; the caller
 * asks all ranks. */
#ifndef BTIO_STORE_H
#define BTIO_STORE_H

#include "config.h"
#include "domain.h"

#include <limits.h>

typedef struct Store Store;

typedef struct Method {
    const char *name;
    const char *title;                        /* as NPB prints it */
    bool own_file;                            /* each process has a file of its own */
    void (*open)(Store *store, bool writing); /* NULL: no I/O at all. Collective */
    void (*write)(Store *store, int dump);    /* from store->buffer */
    void (*read)(Store *store, int dump);     /* into store->buffer */
    void (*close)(Store *store);
} Method;

enum { EPIO_RECORD_EXTRA = 8 };

struct Store {
    const Method *method;
    const Domain *domain;
    MPI_Info info;
    const Hints *hints;
    bool flush;    /* before the next close */
    bool borrowed; /* an earlier run's file, never removed */
    char path[PATH_MAX];
    double *buffer;  /* one dump of this rank: own cells one after the other, each [z][y][x][component] */
    long long calls; /* reads or writes since the file was opened */
    Trouble trouble;
    Hints effective;              /* what the open file reported */
    MPI_File file;                /* full, simple */
    MPI_Datatype point, cells;    /* full: etype and file type */
    int descriptor;               /* epio, fortran */
    char *record;                 /* epio: a cell with its markers */
    struct TwoPhaseRows *through; /* full, lustre-like */
};

extern const Method METHOD_FULL, METHOD_SIMPLE, METHOD_EPIO, METHOD_FORTRAN;
extern const Method METHOD_TWO_PHASE; /* full with --mpiio-driver lustre-like */
extern const char METHOD_NAMES[];

const Method *method_named(const char *name);

void store_make(Store *store, const Config *config, const Domain *domain);

/* Removes what an earlier run left, then creates the file. Collective. */
void store_create(Store *store);

/* Opens what is there for reading only; it must hold `dumps` dumps. Collective. */
void store_reopen(Store *store, int dumps);

/* Collective. */
void store_close(Store *store);

/* Removes the data files, if they are this run's. Collective. */
void store_remove(Store *store);

/* Ends the program, the run's data files removed, when any rank has had trouble. Collective. */
void store_check(Store *store);

/* Copies u plus `shift` of all own points into the buffer. */
void store_pack(Store *store, double shift);

/* Copies the buffer to u. */
void store_unpack(const Store *store);

/* Number of values in the buffer that are not exactly u plus `shift`, on this rank. */
long long store_differences(const Store *store, double shift);

/* First point of a row of a cell, counted in the file from the start of dump 0. */
long long file_point(const Domain *domain, const Cell *cell, int y, int z, int dump);

#endif
