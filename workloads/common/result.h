/* The result JSON that every workload writes; its members are described in workloads/RESULT.md. */
#ifndef COMMON_RESULT_H
#define COMMON_RESULT_H

#include "fail.h"
#include "file_domain.h"
#include "hints.h"
#include "json.h"
#include "options.h"

/* One time over the ranks, in seconds. */
typedef struct Spread {
    double min, mean, max;
    double harmonic_mean; /* Harmonic mean, for which ranks with time 0 add nothing to the sum of 1/t; 0 if
                           * all times are 0. */
} Spread;

/* Collective. Computes the spread of a time over the ranks. */
Spread spread_over_ranks(double seconds, MPI_Comm comm);

typedef struct Phase {
    const char *operation;
    long long bytes, calls_per_rank;
    Spread seconds;
} Phase;

typedef struct ResultFile {
    char *path;
    long long bytes;
    Layout layout;
} ResultFile;

/* Reads the facts about an existing file. */
ResultFile result_file(const char *path);

typedef struct Result {
    const char *workload;
    const OptionTable *options;
    const void *config;
    int ranks, nodes;
    const char *component; /* Library that moved the data; NULL: the MPI library's MPI-IO. */
    Hints requested, effective;
    int file_count, phase_count;
    const ResultFile *files;
    const Phase *phases;
    double total_seconds;
    const char *status, *detail; /* Result of the verification and its explanation. */
    void (*extra)(Json *json, const void *data);
    const void *extra_data;
} Result;

/* Returns the number of nodes on which the ranks of `comm` run. Collective. */
int count_nodes(MPI_Comm comm);

/* Writes the JSON to `path`, or to standard output if `path` is "-". The file is written under another name
 * and then renamed. Called by one rank. */
void result_write(const Result *result, const char *path, Trouble *trouble);

#endif
