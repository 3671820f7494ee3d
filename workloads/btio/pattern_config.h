/* The configuration of a run of BT's I/O pattern alone: options, or the five lines of Northwestern's
 * inputbt.data. */
#ifndef BTIO_PATTERN_CONFIG_H
#define BTIO_PATTERN_CONFIG_H

#include "hints.h"
#include "options.h"

#include <mpi.h>

typedef struct PatternConfig {
    const char *method, *operation, *directory, *hints_file, *json;
    const char *input; /* Path of the five-line input file; NULL if there is none. */
    int grid[3], dumps;
    Hints hints;
    bool per_cell, no_check, keep, help;
    bool writes, reads; /* True for each of the two phases that the operation has. */
} PatternConfig;

extern const OptionTable PATTERN_OPTIONS;

/* Returns true if the command line asks for the I/O pattern and not for the solver: its first argument is a
 * file or it names one of the pattern's methods or, without any argument, there is a five-line
 * ./inputbt.data. Collective. */
bool pattern_wanted(int argc, char **argv, MPI_Comm comm);

/* Parses the options, reads the input and hints files, and checks all values. Ends the program on bad input
 * or --help. Collective. */
void pattern_config_read(PatternConfig *config, int argc, char **argv, MPI_Comm comm);

#endif
