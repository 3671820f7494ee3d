/* The output of a run in mdtest's form, and its result JSON. */
#ifndef METADATA_REPORT_H
#define METADATA_REPORT_H

#include "run.h"

void report_header(const Run *run, int nodes);
void report_table(const Run *run);

/* Collective. Prints the results and writes the JSON. */
void report_json(const Run *run, int nodes, Trouble *trouble);

#endif
