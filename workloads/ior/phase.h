/* One phase of a test: open, transfers until the end or a deadline, close; measured on every task. */
#ifndef IOR_PHASE_H
#define IOR_PHASE_H

#include "api.h"
#include "plan.h"
#include "result.h"

/* The test, task and buffers of a phase. */
typedef struct Job {
    const Settings *settings;
    const Api *api;
    Team team;
    int repetition;
    int64_t *done; /* by place: transfers that were written, the rest cannot be read */
    char *buffer, *expected;
    double cached;    /* part of the data that a node held before it was read, the most; NaN: unknown */
    Hints effective;  /* of the latest open */
    FILE *operations; /* of savePerOpDataCSV, or NULL */
} Job;

/* Seconds by MPI_Wtime; all tasks' extremes, as IOR reduces them. */
typedef struct Clocks {
    double open_start, open_stop, move_start, move_stop, close_start, close_stop;
} Clocks;

typedef struct Outcome {
    Step step;
    int repetition;
    double bandwidth; /* bytes / s */
    double per_second, latency, open, move, close, total;
    int64_t bytes, fewest,
        most; /* moved by all; transfers of the tasks with the fewest and most at the deadline */
    double wall_seconds, wall_bytes; /* at the deadline: seconds, mean bytes of a task; 0 without one */
    int64_t errors;                  /* wrong words found by all */
    Spread seconds;                  /* of a task from its open to its close */
} Outcome;

/* Collective over the team. Wrong data is told on standard error by the task that finds it, at most five
 * times. `mine` gets this task's own clocks. */
Outcome phase_run(Job *job, Step step, Clocks *mine, Trouble *trouble);

/* The path of the file that holds the data of task `owner`. */
void phase_path(const Job *job, int owner, char *path, size_t room);

#endif
