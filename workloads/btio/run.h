/* One run: time steps, dumps and read-backs, and the measured times. */
#ifndef BTIO_RUN_H
#define BTIO_RUN_H

#include "config.h"
#include "domain.h"
#include "exact.h"
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

/* Verifies the result by NPB's published norms, or by the norms of the field in memory at the time of each
 * dump. */

typedef enum { VERIFY_SUCCESSFUL, VERIFY_UNSUCCESSFUL, VERIFY_NOT_PERFORMED } VerifyStatus;

/* Largest relative difference from the reference that NPB allows. */
#define VERIFY_EPSILON 1.0e-8

/* RMS norms at the end of the run. */
typedef struct Answer {
    bool known; /* True if there is an answer; false if nothing was computed (--io-only). */
    double residual[COMPONENTS], error[COMPONENTS];
} Answer;

typedef struct Verdict {
    VerifyStatus status;
    char detail[256]; /* Explanation of the verdict; empty if nothing needs explaining. */
    Answer answer;
} Verdict;

/* Computes the final norms, compares them with the reference, prints the comparison as NPB does and returns
 * the verdict. Collective. */
Verdict verify(Run *run);

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

/* Writes a number in Fortran's E format, which scripts that read NPB's output expect, like
 * 0.1703428370954E+00 for 13 digits; NaN and Infinity as these words. `text` has room for 40 characters. */
void exponent_form(double value, int digits, char text[40]);

#endif
