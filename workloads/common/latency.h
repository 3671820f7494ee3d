/* Statistics of the time of a call that a workload repeats many times. They become rows of `extra.latency` in
 * the result JSON (workloads/RESULT.md). */
#ifndef COMMON_LATENCY_H
#define COMMON_LATENCY_H

#include "json.h"

#include <mpi.h>

/* Seconds of one call. Average, minimum and maximum are taken over the ranks, from each rank's mean over its
 * calls. */
typedef struct Latency {
    const char *operation;
    long long bytes;
    double average, minimum, maximum;
    double p50, p99; /* Percentiles by nearest rank. */
    int iterations;
    long long errors; /* Wrong elements or items on all ranks; not part of the JSON. */
} Latency;

/* Summarises `seconds[iterations]` of calls that all ranks make together: percentiles are taken over the
 * iterations, from the time of the slowest rank in each, and are known on rank 0 only. Collective. */
Latency latency_together(const double *seconds, int iterations, MPI_Comm comm);

/* Summarises calls that each rank makes by itself: the percentiles are the largest that any rank has. Sorts
 * `seconds`. Collective. */
Latency latency_apart(double *seconds, int iterations, MPI_Comm comm);

void latency_json(const Latency *latency, Json *json);

#endif
