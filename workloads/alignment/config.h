/* The configuration of a run of alignment. */
#ifndef ALIGNMENT_CONFIG_H
#define ALIGNMENT_CONFIG_H

#include "file_domain.h"
#include "hints.h"
#include "options.h"

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

#endif
