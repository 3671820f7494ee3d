/* The configuration of a run of metadata. */
#ifndef METADATA_CONFIG_H
#define METADATA_CONFIG_H

#include "options.h"

#include <mpi.h>

typedef struct Config {
    int items, iterations, stride;
    int64_t write_bytes, read_bytes;
    bool unique, sync;
    bool create, stat, read, remove, find;
    const char *find_name, *newer;
    int64_t find_size;
    const char *preset, *directory, *json;
    bool help;
} Config;

extern const OptionTable METADATA_OPTIONS;

/* Parses the options, applies the preset and checks all values. Ends the program on bad input or --help.
 * Collective: every rank gets the same configuration. */
void config_read(Config *config, int argc, char **argv, MPI_Comm comm);

#endif
