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
    long long eager;     /* Size in bytes of the largest message whose send does not wait for its receiver
                          * (eager_observed()); EAGER_NONE if there is none, 0 if it was not measured. */
    int count, capacity; /* Number of latencies, and room for them. */
    Latency *latencies;
    double total_seconds; /* Seconds of all measurements. */
} Run;

/* Type of a function that every rank calls after each measured latency. */
typedef void (*Told)(const Run *run, const Latency *latency);

/* Measures each chosen operation at each size, or the ping-pong. Collective. */
void run_all(Run *run, Told tell);

/* Returns the number of wrong elements in all measurements. */
long long run_errors(const Run *run);

#endif
