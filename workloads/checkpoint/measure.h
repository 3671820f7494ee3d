/* The results of a run: the throughputs that MAPL's original program reports, and the spread of the times,
 * which throughputs do not show. MB is 2^20 bytes here, as in the original. */
#ifndef CHECKPOINT_MEASURE_H
#define CHECKPOINT_MEASURE_H

#include "result.h"
#include "run.h"

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

#endif
