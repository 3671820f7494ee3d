/* The configuration of a run of the program coupled. */
#ifndef COUPLED_CONFIG_H
#define COUPLED_CONFIG_H

#include "options.h"

typedef struct Config {
    int steps;
    double compute; /* Seconds that a rank computes in a step. */
    int64_t forcing, history;
    const char *directory, *json;
    bool ahead, keep, help;
} Config;

extern const OptionTable COUPLED_OPTIONS;

/* Parses and checks the options. Ends the program on bad input or --help. Collective. */
void config_read(Config *config, int argc, char **argv, MPI_Comm comm);

#endif
