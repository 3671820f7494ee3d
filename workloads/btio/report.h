/* The output of btio, line for line as the NAS Parallel Benchmarks print it, and the result JSON. */
#ifndef BTIO_REPORT_H
#define BTIO_REPORT_H

#include "verify.h"

/* Seconds over the ranks; gathered once the run is over. Collective. */
typedef struct Measured {
    Spread total, io, verify;
    double megabytes;                  /* 10^6 bytes written in all dumps */
    double mops;                       /* nominal million operations per second; NaN without the solver */
    double *dump_seconds;              /* [dumps] maximum over ranks */
    long long write_calls, read_calls; /* maximum over ranks */
} Measured;

Measured report_measure(Run *run);

void report_header(const Run *run);
void report_statistics(const Run *run, const Measured *measured);
void report_footer(const Run *run, const Measured *measured, const Verdict *verdict);

/* Writes --json, when asked. Collective; notes what goes wrong. */
void report_json(Run *run, const Measured *measured, const Verdict *verdict, Trouble *trouble);

#endif
