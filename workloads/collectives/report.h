/* The output of a run, for people and for scripts that read the OSU micro-benchmarks, and its result
 * JSON. */
#ifndef COLLECTIVES_REPORT_H
#define COLLECTIVES_REPORT_H

#include "fail.h"
#include "run.h"

void report_header(const Run *run);

/* The row, after a header when its operation is another one than the row's before. */
void report_latency(const Run *run, const Latency *latency);

void report_footer(const Run *run);

/* Collective. */
void report_json(const Run *run, Trouble *trouble);

#endif
