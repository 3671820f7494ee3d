/* The configuration of a run of collectives. */
#ifndef COLLECTIVES_CONFIG_H
#define COLLECTIVES_CONFIG_H

#include "operations.h"
#include "options.h"

enum { LIMITS_MAX = 16, CHOSEN_MAX = 16 };

typedef struct Config {
    const char *names, *sizes, *datatype, *limit_list, *json;
    int iterations;
    int64_t memory; /* Largest number of bytes that each rank may use for buffers. */
    bool pingpong, oversubscribed, help;
    const Operation *chosen[CHOSEN_MAX];
    int chosen_count;
    int64_t smallest, largest; /* Smallest and largest message in bytes. */
    int64_t limits[LIMITS_MAX];
    int limit_count;
    const Element *element;
} Config;

extern const OptionTable COLLECTIVES_OPTIONS;

/* Parses and checks the options. Ends the program on bad input or --help. Collective: every rank gets the
 * same configuration. */
void config_read(Config *config, int argc, char **argv, MPI_Comm comm);

#endif
