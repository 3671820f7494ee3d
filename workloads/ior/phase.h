/* One phase of a test (a write, a read or a check): every task opens its file, performs transfers until all
 * are done or a deadline passes, closes the file, and measures the times. */
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
    int64_t *done; /* For each task the number of transfers that it has written; only these can be read. */
    char *buffer, *expected;
    double cached;    /* Largest part of the data that a node had in memory before reading; NaN: unknown. */
    Hints effective;  /* Hints that the latest open reported. */
    FILE *operations; /* File of savePerOpDataCSV, or NULL. */
} Job;

/* Times of MPI_Wtime at which the steps of a phase began and ended: of one task, or the extremes over all
 * tasks, as IOR computes them. */
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
    double wall_seconds, wall_bytes; /* Seconds until the last task reached the deadline, and mean number of
                                      * bytes that a task moved until then; 0 without a deadline. */
    int64_t errors;                  /* Number of transfers in which any task found wrong data. */
    Spread seconds;                  /* Seconds from open to close: their spread over the tasks. */
} Outcome;

/* Runs a phase. Collective over the team. A task that finds wrong data prints a message on standard error, at
 * most five times. `mine` receives this task's own times. */
Outcome phase_run(Job *job, Step step, Clocks *mine, Trouble *trouble);

/* Writes the path of the file with the data of task `owner` into `path`. */
void phase_path(const Job *job, int owner, char *path, size_t room);

#endif
