/* One test: its repetitions, each a sequence of phases, and the measured results. */
#ifndef IOR_TEST_H
#define IOR_TEST_H

#include "phase.h"

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
