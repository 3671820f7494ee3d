/* One test: its repetitions, each a sequence of phases, and the measured results. */
#ifndef IOR_TEST_H
#define IOR_TEST_H

#include "api.h"
#include "result.h"
#include "settings.h"

/* The tasks of a test and where they run. */
typedef struct Team {
    MPI_Comm comm; /* MPI_COMM_NULL on ranks that stay idle. */
    int rank, tasks, nodes, per_node;
    bool by_block; /* True if consecutive ranks share a node. */
} Team;

/* Chooses the ranks that take part as tasks, and finds their nodes. Collective over `all`. */
Team team_make(const Settings *settings, MPI_Comm all);
void team_free(Team *team);

/* Transfers of one task. With the option -S there is a single transfer, of one piece in each segment. */
typedef struct Plan {
    const Settings *settings;
    int64_t count, pieces;
    int sharers;
    int64_t *order; /* Numbers of the transfers in the order of their execution; NULL: in the order of the
                     * file. */
} Plan;

Plan plan_make(const Settings *settings, int sharers, int place);
void plan_free(Plan *plan);

/* Returns the file offset of piece `piece` of transfer `i`, for the task with the number `place` among the
 * tasks that share the file. */
int64_t plan_offset(const Plan *plan, int64_t i, int64_t piece, int place);

typedef enum { STEP_WRITE, STEP_CHECK_WRITE, STEP_READ, STEP_CHECK_READ } Step;

/* Returns the number of the task whose data this task writes or reads in a step of a repetition.
 * Collective. */
int plan_partner(const Settings *settings, const Team *team, Step step, int repetition);

/* One phase of a test (a write, a read or a check): every task opens its file, performs transfers until all
 * are done or a deadline passes, closes the file, and measures the times. */

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

typedef struct Row {
    Outcome outcome;
    bool is_removal; /* True if the row is about the removal of files; then only `total` of the outcome is
                      * valid. */
} Row;

typedef struct Test {
    const Settings *settings;
    Team team;
    int number;
    int count;
    Row *rows;
    int64_t errors; /* Number of wrong transfers that were found. */
    int checks;     /* Number of phases that compared data. */
    double cached;  /* Largest part of the data that a node had in memory before reading; NaN: unknown. */
    Hints effective;
    ResultFile file; /* Facts about the first task's file, read while it existed. */
} Test;

typedef void Reporter(const Test *test, const Row *row);

/* Runs the test. Collective over the tasks of `team`. The first task calls `report` after each phase. */
Test test_run(const Settings *settings, const Team *team, int number, Reporter *report, Trouble *trouble);

#endif
