/* One run of a simulator: trials of opening, moving every array, and closing, and what was measured on the
 * way. */
#ifndef CHECKPOINT_RUN_H
#define CHECKPOINT_RUN_H

#include "field.h"
#include "slab.h"
#include "store.h"

/* Seconds. The first four lie between barriers, so that all ranks have nearly the same. */
typedef struct Trial {
    double open, move, close, total;
    double io, mpi; /* this rank's calls of netCDF or read and write; of gather or scatter */
    double bytes;   /* that this rank wrote or read */
} Trial;

typedef struct Run {
    const Config *config;
    const Program *program;
    Cube cube;
    Slab slab;
    Store store;
    float *fields; /* [arrays][levels][cells of this rank] */
    Trial *trials; /* [problem.trials] */
    double cached; /* part of a file that a node held before a trial, the most; NaN: unknown */
    bool checked;
    Wrong wrong; /* this rank's */
} Run;

void run_prepare(Run *run, const Config *config, const Program *program, MPI_Comm world);

/* All trials, and what --check or --make asks for around them. Ends the program on trouble. */
void run_trials(Run *run);

/* Volume of all arrays in bytes. */
double run_bytes(const Run *run);

#endif
