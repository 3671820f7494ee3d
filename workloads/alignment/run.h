/* Writes and reads the file in transfers of equal size: in segment s rank r of P ranks moves transfer number
 * s * P + r of the file. The data depends on the offset, so that misplaced data is found. */
#ifndef ALIGNMENT_RUN_H
#define ALIGNMENT_RUN_H

#include <limits.h>

#include "file_domain.h"
#include "hints.h"
#include "options.h"
#include "result.h"
#include "two_phase.h"

typedef struct Config {
    int align; /* Kind of file domains: a value of DomainKind. */
    int64_t transfer;
    int segments;
    const char *directory, *hints_file, *json, *log;
    Hints hints;
    bool fsync, keep, help;
} Config;

extern const OptionTable ALIGNMENT_OPTIONS;

/* Parses the options, reads the hints file, and checks all values. Ends the program on bad input or --help.
 * Collective. */
void config_read(Config *config, int argc, char **argv, MPI_Comm comm);

typedef struct Run {
    const Config *config;
    MPI_Comm comm;
    int rank, ranks;
    char path[PATH_MAX];
    uint64_t *data; /* Memory for the data of one transfer. */
    int64_t words;
    Trouble trouble;
    TwoPhase file;
    Hints effective;
    /* Seconds of this rank: in writing, in reading, and from the open to the close. */
    double write_seconds, read_seconds, total_seconds;
    long long wrong; /* Number of words on all ranks that differ from the written ones. */
    ResultFile looked_at;
} Run;

/* Writes the file, reads it back on other ranks and compares. Ends the program when I/O fails. Collective. */
void run_all(Run *run, const Config *config, MPI_Comm comm);

/* Collective. Prints the results and writes the JSON. */
void report(Run *run);

#endif
