/* The output of a run, for people and for scripts that read the OSU micro-benchmarks, and its result
 * JSON. */
#ifndef COLLECTIVES_REPORT_H
#define COLLECTIVES_REPORT_H

#include "fail.h"
#include "run.h"

void report_header(const Run *run);

/* Prints a latency as one row, after a header if the previous row had another operation. */
void report_latency(const Run *run, const Latency *latency);

void report_footer(const Run *run);

/* Collective. Prints the results and writes the JSON. */
void report_json(const Run *run, Trouble *trouble);

#endif
