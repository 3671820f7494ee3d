/* The timed phases of a run. */
#ifndef METADATA_RUN_H
#define METADATA_RUN_H

#include "items.h"
#include "latency.h"
#include "result.h"

enum { PHASE_COUNT = 5 };

/* Results of one phase of one iteration. */
typedef struct Timed {
    long long items; /* Items of all ranks. */
    Spread seconds;  /* Seconds of each rank, from a barrier to the end of its last item: their spread over
                      * the ranks. */
    double rate;     /* Items per second, computed with the slowest rank's time. */
    Latency latency; /* Time of the operation on one item; empty (0 iterations) for --find, which is timed as
                      * a whole. */
    long long moved; /* Bytes written or read by all ranks. */
} Timed;

typedef struct Step {
    const char *name, *title; /* Name in the JSON, and in the printed table. */
    bool chosen;
    Timed *timed; /* Results of each iteration. */
} Step;

typedef struct Run {
    const Config *config;
    Items items;
    Step steps[PHASE_COUNT];
    long long found; /* Number of files that --find found. */
    double total_seconds;
} Run;

void run_prepare(Run *run, const Config *config, MPI_Comm comm);

/* Runs all iterations. After an error, removes the files and folders that this run created. Collective: all
 * ranks get the same error. */
void run_all(Run *run, Trouble *trouble);

void run_free(Run *run);

#endif
