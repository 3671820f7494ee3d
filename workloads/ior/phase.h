/* One phase of a test: open, transfers until the end or a deadline, close; measured on every task. */
#ifndef IOR_PHASE_H
#define IOR_PHASE_H

#include "api.h"
#include "plan.h"
#include "result.h"

/* Test, task and buffers of a phase. */
typedef struct Job {
    const Settings *settings;
    const Api *api;
    Team team;
    int repetition;
    int64_t *done; /* For each place the number of transfers that were written; only these can be read. */
    char *buffer, *expected;
    double cached;    /* Largest part of the data that a node had in memory before reading; NaN: unknown. */
    Hints effective;  /* Hints that the latest open reported. */
    FILE *operations; /* File of savePerOpDataCSV, or NULL. */
} Job;

/* Seconds by MPI_Wtime: the extremes over all tasks, as IOR computes them. */
typedef struct Clocks {
    double open_start, open_stop, move_start, move_stop, close_start, close_stop;
} Clocks;

typedef struct Outcome {
    Step step;
    int repetition;
    double bandwidth; /* In bytes / s. */
    double per_second, latency, open, move, close, total;
    int64_t bytes, fewest,
        most; /* Bytes moved by all tasks; fewest and most transfers of a task at the deadline. */
    double wall_seconds, wall_bytes; /* Seconds, and mean bytes of a task, at the deadline; 0 without one. */
    int64_t errors;                  /* Number of wrong words that all tasks found. */
    Spread seconds;                  /* Seconds of each task from its open to its close. */
} Outcome;

/* Runs a phase. Collective over the team. The task that finds wrong data reports it on standard error, at
 * most five times. `mine` gets this task's own times. */
Outcome phase_run(Job *job, Step step, Clocks *mine, Trouble *trouble);

/* Writes the path of the file with the data of task `owner` into `path`. */
void phase_path(const Job *job, int owner, char *path, size_t room);

#endif
