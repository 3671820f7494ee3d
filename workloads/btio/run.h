/* One run: time steps, dumps and read-backs, and what was measured on the way. */
#ifndef BTIO_RUN_H
#define BTIO_RUN_H

#include "config.h"
#include "exact.h"
#include "exchange.h"
#include "result.h"
#include "solve.h"
#include "store.h"

typedef struct Run {
    const Config *config;
    Domain domain;
    Exact exact;
    Exchange exchange;
    Solver solver;
    Store store;
    int dumps, written, in_file, read; /* planned; so far; since the file was begun anew; read back */
    double total_seconds;              /* steps, dumps and close; this rank */
    double io_seconds,
        verify_seconds;   /* dumps and close (with read-backs in between); read-back afterwards */
    double norm_seconds;  /* norms taken within the steps, not part of total_seconds */
    double *dump_seconds; /* [dumps] */
    long long write_calls, read_calls;
    double (
        *memory)[COMPONENTS]; /* [dumps] error norms when written, where they are the reference; else NULL */
    double error_sum[COMPONENTS]; /* of the dumps read back */
    int wrong_dump;               /* first one (from 1) that is not what was written; 0: none */
    long long wrong_values;       /* with io_only: of all dumps and ranks */
    double cached; /* part of the file that a node held before the read-back, the most of all; NaN: unknown */
    ResultFile file; /* this rank's, as it stood after the last dump */
} Run;

/* Lays out and fills the fields, and takes one untimed step. Collective, as is all below. */
void run_prepare(Run *run, const Config *config, MPI_Comm comm);

/* The timed part. */
void run_steps(Run *run);

/* Reads every dump back, unless the read interval has done so already. u is the last dump then. */
void run_read_back(Run *run);

/* The run makes dumps. */
bool run_has_io(const Run *run);

/* Prints a line on rank 0. */
void run_say(const Run *run, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
