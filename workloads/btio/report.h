/* The output of btio, line for line as the NAS Parallel Benchmarks print it, and the result JSON. */
#ifndef BTIO_REPORT_H
#define BTIO_REPORT_H

#include "verify.h"

/* Times in seconds over the ranks, gathered after the run. Collective. */
typedef struct Measured {
    Spread total, io, verify;
    double megabytes;     /* Size of all dumps in 10^6 bytes. */
    double mops;          /* Millions of operations per second by NPB's count; NaN without the solver. */
    double *dump_seconds; /* For each dump, the longest time that a rank took. */
    long long write_calls, read_calls; /* Largest number of calls that a rank made, for writes and for
                                        * reads. */
} Measured;

Measured report_measure(Run *run);

void report_header(const Run *run);
void report_statistics(const Run *run, const Measured *measured);
void report_footer(const Run *run, const Measured *measured, const Verdict *verdict);

/* Writes the file of --json if requested. Collective; notes errors. */
void report_json(Run *run, const Measured *measured, const Verdict *verdict, Trouble *trouble);

#endif
