#include "latency.h"

#include "fail.h"

#include <math.h>
#include <stdlib.h>

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double percentile(const double *sorted, int count, double share)
{
    return sorted[(int)ceil(share * count) - 1];
}

static Latency means(const double *seconds, int iterations, MPI_Comm comm)
{
    Latency latency = {.iterations = iterations};
    int ranks;
    double sum = 0.0;
    MPI_Comm_size(comm, &ranks);
    for (int i = 0; i < iterations; i++)
        sum += seconds[i];
    double mine = sum / iterations;
    MPI_Allreduce(&mine, &latency.minimum, 1, MPI_DOUBLE, MPI_MIN, comm);
    MPI_Allreduce(&mine, &latency.maximum, 1, MPI_DOUBLE, MPI_MAX, comm);
    MPI_Allreduce(&mine, &latency.average, 1, MPI_DOUBLE, MPI_SUM, comm);
    latency.average /= ranks;
    return latency;
}

Latency latency_together(const double *seconds, int iterations, MPI_Comm comm)
{
    Latency latency = means(seconds, iterations, comm);
    double *slowest = allocate(iterations, sizeof(double));
    int rank;
    MPI_Comm_rank(comm, &rank);
    MPI_Reduce(seconds, slowest, iterations, MPI_DOUBLE, MPI_MAX, 0, comm);
    if (rank == 0) {
        qsort(slowest, (size_t)iterations, sizeof(double), ascending);
        latency.p50 = percentile(slowest, iterations, 0.50);
        latency.p99 = percentile(slowest, iterations, 0.99);
    }
    free(slowest);
    return latency;
}

Latency latency_apart(double *seconds, int iterations, MPI_Comm comm)
{
    Latency latency = means(seconds, iterations, comm);
    qsort(seconds, (size_t)iterations, sizeof(double), ascending);
    double mine[2] = {percentile(seconds, iterations, 0.50), percentile(seconds, iterations, 0.99)},
           largest[2];
    MPI_Allreduce(mine, largest, 2, MPI_DOUBLE, MPI_MAX, comm);
    latency.p50 = largest[0];
    latency.p99 = largest[1];
    return latency;
}

void latency_json(const Latency *latency, Json *json)
{
    json_open(json, NULL, '{');
    json_text(json, "operation", latency->operation);
    json_integer(json, "bytes", latency->bytes);
    json_real(json, "t_avg", latency->average);
    json_real(json, "t_min", latency->minimum);
    json_real(json, "t_max", latency->maximum);
    json_real(json, "p50", latency->p50);
    json_real(json, "p99", latency->p99);
    json_integer(json, "iterations", latency->iterations);
    json_close(json, '}');
}
