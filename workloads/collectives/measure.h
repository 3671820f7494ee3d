/* Timing one operation at one message size as the OSU micro-benchmarks do. */
#ifndef COLLECTIVES_MEASURE_H
#define COLLECTIVES_MEASURE_H

#include "operations.h"

/* Seconds of one call. Average, minimum and maximum are over the ranks, each with its mean over the
 * iterations; the percentiles (nearest rank) are over the iterations, each with its slowest rank. */
typedef struct Latency {
    const char *operation;
    long long bytes;
    double average, minimum, maximum, p50, p99;
    int iterations;
    long long errors; /* wrong elements on all ranks after the last iteration */
} Latency;

/* `wanted`, or by message size where that is 0: 1000 up to 8192 bytes, 100 above. */
int iterations_of(int wanted, long long bytes);

/* Sums up `seconds[iterations]` of every rank. Collective over `comm`; all fields but `errors` and the name
 * are set, the percentiles on rank 0 only. */
Latency latency_over_ranks(const double *seconds, int iterations, MPI_Comm comm);

/* Collective. A tenth as many untimed calls go before; a barrier outside the clock follows each call. */
Latency measure(const Operation *operation, const Element *element, long long bytes, int iterations,
                MPI_Comm comm);

#endif
