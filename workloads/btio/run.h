/* One run: time steps, dumps and read-backs, and the measured times. */
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
    /* Numbers of dumps: planned, written so far, written to the file since it was last emptied, and read
     * back. */
    int dumps, written, in_file, read;
    double total_seconds; /* Seconds of this rank in steps, dumps and the close. */
    /* Seconds of this rank in I/O: `io_seconds` in dumps, the close and read-backs during the run,
     * `verify_seconds` in the read-back afterwards. */
    double io_seconds, verify_seconds;
    double norm_seconds;  /* Seconds in which norms were computed during the steps; total_seconds does not
                           * contain them. */
    double *dump_seconds; /* Seconds of each dump. */
    long long write_calls, read_calls;
    double(
        /* For each dump, the error norms of the field in memory at that time, if they are the reference for
         * the dump; else NULL. */
        *memory)[COMPONENTS];
    double error_sum[COMPONENTS]; /* Sum of the error norms of all dumps that were read back. */
    int wrong_dump; /* Number (from 1) of the first dump that differs from the written one; 0 if none does. */
    long long wrong_values; /* With io_only: number of wrong values in all dumps on all ranks. */
    /* Largest part of the file that a node had in memory before the read-back; NaN: unknown. */
    double cached;
    ResultFile file; /* Facts about this rank's file after the last dump. */
} Run;

/* Lays out and fills the fields, and takes one untimed step. This function and all functions below are
 * collective. */
void run_prepare(Run *run, const Config *config, MPI_Comm comm);

/* Runs the time steps and writes the dumps; both are timed. */
void run_steps(Run *run);

/* Reads back every dump that was not read during the run. Afterwards u is the last dump. */
void run_read_back(Run *run);

/* Returns true if the run makes dumps. */
bool run_has_io(const Run *run);

/* Prints a line on rank 0. */
void run_say(const Run *run, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
