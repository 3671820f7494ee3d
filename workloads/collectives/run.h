/* All measurements of one run. */
#ifndef COLLECTIVES_RUN_H
#define COLLECTIVES_RUN_H

#include "config.h"
#include "library.h"
#include "measure.h"
#include "processors.h"
#include "selection.h"

typedef struct Run {
    const Config *config;
    MPI_Comm comm;
    int rank, ranks;
    Crowd crowd;
    Selection selection;
    int variable_count;
    Variable variables[VARIABLES_MAX];
    long long eager;     /* bytes, as eager_observed() found it; 0 when nobody looked */
    int count, capacity; /* of the latencies */
    Latency *latencies;
    double total_seconds; /* of all measurements */
} Run;

/* Called by every rank, each time a latency is known. */
typedef void (*Told)(const Run *run, const Latency *latency);

/* Each chosen operation at each size, or the ping-pong. Collective. */
void run_all(Run *run, Told tell);

/* Wrong elements of all measurements. */
long long run_errors(const Run *run);

#endif
