/* The result JSON that every workload writes; its members are described in workloads/RESULT.md. */
#ifndef COMMON_RESULT_H
#define COMMON_RESULT_H

#include "fail.h"
#include "hints.h"
#include "json.h"
#include "layout.h"
#include "options.h"

/* One time over the ranks, in seconds. */
typedef struct Spread {
    double min, mean, max;
    double harmonic_mean; /* ranks with time 0 add nothing to the sum of 1/t; 0 when all are 0 */
} Spread;

/* Collective. */
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

/* Looks at a file that is still there. */
ResultFile result_file(const char *path);

typedef struct Result {
    const char *workload;
    const OptionTable *options;
    const void *config;
    int ranks, nodes;
    const char *component; /* what moved the data; NULL: the MPI library's MPI-IO */
    Hints requested, effective;
    int file_count, phase_count;
    const ResultFile *files;
    const Phase *phases;
    double total_seconds;
    const char *status, *detail; /* of the verification */
    void (*extra)(Json *json, const void *data);
    const void *extra_data;
} Result;

/* Number of nodes that the ranks of `comm` run on. Collective. */
int count_nodes(MPI_Comm comm);

/* Writes to `path` (aside, then renamed), or to standard output when it is "-". Called by one rank. */
void result_write(const Result *result, const char *path, Trouble *trouble);

#endif
