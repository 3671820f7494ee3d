/* The time of one call, for workloads that time the same call many times: rows of the result JSON's
 * `extra.latency` (workloads/RESULT.md). */
#ifndef COMMON_LATENCY_H
#define COMMON_LATENCY_H

#include "json.h"

#include <mpi.h>

/* Seconds of one call. Average, minimum and maximum are over the ranks, each with its mean over its calls. */
typedef struct Latency {
    const char *operation;
    long long bytes;
    double average, minimum, maximum;
    double p50, p99; /* Percentiles by nearest rank. */
    int iterations;
    long long errors; /* Wrong elements or items on all ranks; not part of the JSON. */
} Latency;

/* Summarises `seconds[iterations]` of calls that all ranks make together: the percentiles are over the
 * iterations, each with its slowest rank, and known on rank 0 only. Collective. */
Latency latency_together(const double *seconds, int iterations, MPI_Comm comm);

/* Summarises calls that each rank makes by itself: the percentiles are those of the rank with the largest
 * ones. Sorts `seconds`. Collective. */
Latency latency_apart(double *seconds, int iterations, MPI_Comm comm);

void latency_json(const Latency *latency, Json *json);

#endif
