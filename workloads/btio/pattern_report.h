/* The output of the pattern, line for line as Northwestern's BTIO prints it, and the result JSON. */
#ifndef BTIO_PATTERN_REPORT_H
#define BTIO_PATTERN_REPORT_H

#include "pattern_run.h"

typedef struct PatternReport {
    const PatternConfig *config;
    const Pattern *pattern;
    int count;
    const Operation *operations;
    ResultFile file;             /* after the last operation */
    const char *status, *detail; /* of the verification */
} PatternReport;

/* The block of one operation. Called by rank 0. */
void pattern_print(const PatternReport *report, const Operation *operation);

/* Writes --json. Collective; notes what goes wrong. */
void pattern_json(const PatternReport *report, Trouble *trouble);

#endif
