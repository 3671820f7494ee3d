/* Timing one operation at one message size as the OSU micro-benchmarks do. */
#ifndef COLLECTIVES_MEASURE_H
#define COLLECTIVES_MEASURE_H

#include "latency.h"
#include "operations.h"

/* `wanted`, or by message size where that is 0: 1000 up to 8192 bytes, 100 above. */
int iterations_of(int wanted, long long bytes);

/* Collective. A tenth as many untimed calls go before; a barrier outside the clock follows each call. */
Latency measure(const Operation *operation, const Element *element, long long bytes, int iterations,
                MPI_Comm comm);

#endif
