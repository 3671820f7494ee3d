/* The numbers of a run: the original's throughputs, and what their means hide. MB here is 2^20 bytes, as
 * there. */
#ifndef CHECKPOINT_MEASURE_H
#define CHECKPOINT_MEASURE_H

#include "result.h"
#include "run.h"

/* Mean and population deviation, sqrt(sum (x - mean)^2 / n), over trials. NAN where it was not measured. */
typedef struct Statistic {
    double mean, deviation;
} Statistic;

/* On rank 0. Times are sums over all trials, in seconds. */
typedef struct Measured {
    double megabytes;    /* of one trial */
    double *real, *file; /* [trials], MB/s: volume / time between barriers; and
                            writers * mean bytes / mean time in calls, over writers */
    Statistic real_statistic, file_statistic;
    Spread io, mpi;           /* of a writer, over writers */
    Spread open, move, close; /* over all ranks */
    Spread total;             /* open + move + close */
    long long wrong_values;
} Measured;

/* Collective. */
Measured measure(const Run *run);

#endif
