/* One run of a simulator: trials in which it opens files, moves every array and closes them, and the measured
 * times. */
#ifndef CHECKPOINT_RUN_H
#define CHECKPOINT_RUN_H

#include "cube.h"
#include "result.h"
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

/* The results of a run: the throughputs that MAPL's original program reports, and the spread of the times,
 * which throughputs do not show. MB is 2^20 bytes here, as in the original. */

/* Mean and population deviation, sqrt(sum (x - mean)^2 / n), over trials; NAN if not measured. */
typedef struct Statistic {
    double mean, deviation;
} Statistic;

/* Results on rank 0. Times are sums over all trials, in seconds. */
typedef struct Measured {
    double megabytes; /* Size of the data of one trial, in 2^20 bytes. */
    /* Throughputs in MB/s of each trial. `real`: volume / time between barriers. `file`: writers * mean bytes
       / mean time in calls, over the writers. */
    double *real, *file;
    Statistic real_statistic, file_statistic;
    Spread io, mpi;           /* Seconds that a writer spent in I/O and in MPI: mean and extremes over the
                               * writers. */
    Spread open, move, close; /* Seconds of the steps open, move and close: minimum, mean and maximum over all
                               * ranks. */
    Spread total;             /* Seconds of open, move and close together. */
    long long wrong_values;
} Measured;

/* Collective. Computes the results. */
Measured measure(const Run *run);

/* Prints the results on rank 0. `seconds` is the program's run time so far. Collective. */
void summary_print(const Run *run, const Measured *measured, double seconds);

/* Collective. Writes the JSON file of --json. */
void summary_json(const Run *run, const Measured *measured, double seconds, Trouble *trouble);

/* Returns `successful`, `unsuccessful` or `not performed`, and the reason in `detail`. Collective: if values
 * are wrong, the reason names the position of the first wrong value on the lowest such rank. */
const char *summary_verdict(const Run *run, const Measured *measured, char *detail, size_t size);

#endif
