/* Timing one operation at one message size as the OSU micro-benchmarks do. */
#ifndef COLLECTIVES_MEASURE_H
#define COLLECTIVES_MEASURE_H

#include "config.h"
#include "latency.h"

/* Returns the number of calls: `wanted`, or if that is 0, 1000 for messages up to 8192 bytes and 100
 * above. */
int iterations_of(int wanted, long long bytes);

/* Collective. Times the calls; before them it makes a tenth as many untimed calls. An untimed barrier follows
 * each call. */
Latency measure(const Operation *operation, const Element *element, long long bytes, int iterations,
                MPI_Comm comm);

#endif
