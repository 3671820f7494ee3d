/* The phases of a run, timed. */
#ifndef METADATA_RUN_H
#define METADATA_RUN_H

#include "items.h"
#include "latency.h"
#include "result.h"

enum { PHASE_COUNT = 5 };

/* One phase of one iteration. */
typedef struct Timed {
    long long items; /* of all ranks */
    Spread seconds;  /* over the ranks, from a barrier to the rank's last item */
    double rate;     /* items a second, by the slowest rank */
    Latency latency; /* of one item; of no iterations for --find, which is timed as a whole */
    long long moved; /* bytes written or read by all ranks */
} Timed;

typedef struct Step {
    const char *name, *title; /* in the JSON; in the table */
    bool chosen;
    Timed *timed; /* of each iteration */
} Step;

typedef struct Run {
    const Config *config;
    Items items;
    Step steps[PHASE_COUNT];
    long long found; /* files that --find found */
    double total_seconds;
} Run;

void run_prepare(Run *run, const Config *config, MPI_Comm comm);

/* All iterations; on trouble removes what this run created. Collective: all ranks have the same trouble
 * afterwards. */
void run_all(Run *run, Trouble *trouble);

void run_free(Run *run);

#endif
