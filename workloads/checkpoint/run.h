/* One run of a simulator: trials in which it opens files, moves every array and closes them, and the measured
 * times. */
#ifndef CHECKPOINT_RUN_H
#define CHECKPOINT_RUN_H

#include "field.h"
#include "slab.h"
#include "store.h"

/* Times in seconds. The first four are measured between barriers, so they are nearly equal on all ranks. */
typedef struct Trial {
    double open, move, close, total;
    double io, mpi; /* Seconds that this rank spent in calls of netCDF or POSIX, and in gather or scatter. */
    double bytes;   /* Bytes that this rank wrote or read. */
} Trial;

typedef struct Run {
    const Config *config;
    const Program *program;
    Cube cube;
    Slab slab;
    Store store;
    float *fields; /* Data of all arrays of this rank, [arrays][levels][cells]. */
    Trial *trials; /* Results of each trial. */
    double cached; /* Largest share of a file that was in a node's page cache before a trial; NaN: unknown. */
    bool checked;
    Wrong wrong; /* Number of this rank's wrong cells, and the first of them. */
} Run;

void run_prepare(Run *run, const Config *config, const Program *program, MPI_Comm world);

/* Runs all trials, and the untimed reads or writes that the options --check or --make add. Ends the program
 * after an error. */
void run_trials(Run *run);

/* Returns the size of all arrays in bytes. */
double run_bytes(const Run *run);

#endif
