#include <stdlib.h>

#include "run.h"

enum { SMALL_MESSAGE = 8192, SMALL_ITERATIONS = 1000, LARGE_ITERATIONS = 100 };

int iterations_of(int wanted, long long bytes)
{
    if (wanted > 0)
        return wanted;
    return bytes <= SMALL_MESSAGE ? SMALL_ITERATIONS : LARGE_ITERATIONS;
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
    Latency latency = latency_together(seconds, iterations, comm);
    MPI_Allreduce(&mine, &errors, 1, MPI_LONG_LONG, MPI_SUM, comm);
    latency.operation = operation->name;
    latency.bytes = bytes;
    latency.errors = errors;
    exchange_free(&exchange);
    free(seconds);
    return latency;
}
