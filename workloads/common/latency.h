/* Statistics of the time of a call that a workload repeats many times. They become rows of `extra.latency` in
 * the result JSON (workloads/RESULT.md). */
#ifndef COMMON_LATENCY_H
#define COMMON_LATENCY_H

#include "json.h"

#include <mpi.h>

/* Seconds that one call takes. Average, minimum and maximum are taken over the ranks' mean times. */
typedef struct Latency {
    const char *operation;
    long long bytes;
    double average, minimum, maximum;
    double p50, p99; /* Percentiles by nearest rank. */
    int iterations;
    long long errors; /* Wrong elements or items on all ranks; not part of the JSON. */
} Latency;

/* Summarises the times of calls that all ranks make together. The percentiles are taken over the iterations,
 * each of which counts with its slowest rank's time; only rank 0 gets them. Collective. */
Latency latency_together(const double *seconds, int iterations, MPI_Comm comm);

/* Summarises the times of calls that each rank makes by itself. Each percentile is the largest of all ranks.
 * Sorts `seconds`. Collective. */
Latency latency_apart(double *seconds, int iterations, MPI_Comm comm);

void latency_json(const Latency *latency, Json *json);

#endif
