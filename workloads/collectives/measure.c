#include "measure.h"

#include "fail.h"

#include <math.h>
#include <stdlib.h>

enum { SMALL_MESSAGE = 8192, SMALL_ITERATIONS = 1000, LARGE_ITERATIONS = 100 };

int iterations_of(int wanted, long long bytes)
{
    if (wanted > 0)
        return wanted;
    return bytes <= SMALL_MESSAGE ? SMALL_ITERATIONS : LARGE_ITERATIONS;
}

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double percentile(const double *sorted, int count, double share)
{
    return sorted[(int)ceil(share * count) - 1];
}

Latency latency_over_ranks(const double *seconds, int iterations, MPI_Comm comm)
{
    Latency latency = {.iterations = iterations};
    int ranks, rank;
    double sum = 0.0;
    MPI_Comm_size(comm, &ranks);
    MPI_Comm_rank(comm, &rank);
    for (int i = 0; i < iterations; i++)
        sum += seconds[i];
    double mine = sum / iterations;
    MPI_Allreduce(&mine, &latency.minimum, 1, MPI_DOUBLE, MPI_MIN, comm);
    MPI_Allreduce(&mine, &latency.maximum, 1, MPI_DOUBLE, MPI_MAX, comm);
    MPI_Allreduce(&mine, &latency.average, 1, MPI_DOUBLE, MPI_SUM, comm);
    latency.average /= ranks;
    double *slowest = allocate(iterations, sizeof(double));
    MPI_Reduce(seconds, slowest, iterations, MPI_DOUBLE, MPI_MAX, 0, comm);
    if (rank == 0) {
        qsort(slowest, (size_t)iterations, sizeof(double), ascending);
        latency.p50 = percentile(slowest, iterations, 0.50);
        latency.p99 = percentile(slowest, iterations, 0.99);
    }
    free(slowest);
    return latency;
}

Latency measure(const Operation *operation, const Element *element, long long bytes, int iterations,
                MPI_Comm comm)
{
    double *seconds = allocate(iterations, sizeof(double));
    Exchange exchange = exchange_make(operation, element, (size_t)bytes, comm);
    exchange_fill(operation, &exchange);
    MPI_Barrier(comm);
    for (int i = -(iterations / 10); i < iterations; i++) {
        double begin = MPI_Wtime();
        operation->call(&exchange);
        double end = MPI_Wtime();
        if (i >= 0)
            seconds[i] = end - begin;
        MPI_Barrier(comm);
    }
    long long mine = operation->empty ? 0 : exchange_errors(operation, &exchange), errors;
    Latency latency = latency_over_ranks(seconds, iterations, comm);
    MPI_Allreduce(&mine, &errors, 1, MPI_LONG_LONG, MPI_SUM, comm);
    latency.operation = operation->name;
    latency.bytes = bytes;
    latency.errors = errors;
    exchange_free(&exchange);
    free(seconds);
    return latency;
}
