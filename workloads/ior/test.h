/* One test: its repetitions, each a sequence of phases, and what they measured. */
#ifndef IOR_TEST_H
#define IOR_TEST_H

#include "phase.h"

typedef struct Row {
    Outcome outcome;
    bool is_removal; /* then only `total` of the outcome counts */
} Row;

typedef struct Test {
    const Settings *settings;
    Team team;
    int number;
    int count;
    Row *rows;
    int64_t errors; /* wrong transfers found */
    int checks;     /* phases that compared */
    double cached;  /* as in Job */
    Hints effective;
    ResultFile file; /* the first task's, looked at while it was there */
} Test;

typedef void Reporter(const Test *test, const Row *row);

/* Collective over the tasks of `team`. `report` is called by the first task after each phase. */
Test test_run(const Settings *settings, const Team *team, int number, Reporter *report, Trouble *trouble);

#endif
