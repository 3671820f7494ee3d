/* The configuration of a run of btio: options, NPB's input file, classes, and the checks that need no
 * file. */
#ifndef BTIO_CONFIG_H
#define BTIO_CONFIG_H

#include "domain.h"
#include "hints.h"
#include "options.h"

typedef struct Config {
    /* Name of the class, as given; after config_read the name of a known class or "U". */
    const char *class_name;
    int grid[3];
    int steps;
    double dt;
    /* Steps between dumps, and dumps between read-backs (0: only one read-back after the run). */
    int write_interval, read_interval;
    const char *method, *mpiio_driver, *directory;
    const char *hints_file, *json, *input;
    Hints hints;
    bool io_only, write_only, verify_only, cold_read, keep, fsync, print_norms, help;
    bool input_ignored; /* True if the file inputbt.data exists, but the options choose another problem. */
    bool collbuf_from_input; /* True if the input file had NPB's line for collective buffering. */
    int collbuf[2];          /* Number of collective buffering nodes, and buffer size in bytes. */
} Config;

extern const OptionTable BTIO_OPTIONS;

/* Parses the options, reads the input and hints files, fills in defaults and checks all values. Ends the
 * program on bad input or --help. Collective: every rank gets the same configuration. */
void config_read(Config *config, int argc, char **argv, MPI_Comm comm);

/* Returns true if the bundled writer does the collective transfers. */
bool config_lustre_like(const Config *config);

/* Returns how many dumps a run makes. */
int dump_count(const Config *config);

#endif
