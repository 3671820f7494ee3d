/* The output of the pattern, line for line as Northwestern's BTIO prints it, and the result JSON. */
#ifndef BTIO_PATTERN_REPORT_H
#define BTIO_PATTERN_REPORT_H

#include "pattern_run.h"

typedef struct PatternReport {
    const PatternConfig *config;
    const Pattern *pattern;
    int count;
    const Operation *operations;
    ResultFile file;             /* Facts about the file after the last operation. */
    const char *status, *detail; /* Result of the verification and its explanation. */
} PatternReport;

/* Prints the lines about one operation. Called by rank 0. */
void pattern_print(const PatternReport *report, const Operation *operation);

/* Writes the file of --json. Collective; notes errors. */
void pattern_json(const PatternReport *report, Trouble *trouble);

#endif
