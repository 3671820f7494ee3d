/* The configuration of a run of a simulator: options, the original's resource file, and the checks that
 * need no data file. Writing (checkpoint) and reading (restart) differ in a table of options and a table of
 * keys. */
#ifndef CHECKPOINT_CONFIG_H
#define CHECKPOINT_CONFIG_H

#include "hints.h"
#include "options.h"

/* The problem in MAPL's flags and resource files; all zero if none was given. */
typedef struct Problem {
    int nx, ny;   /* ranks along i and j of each face; with --mode, nx is the edge of a face */
    int im_world; /* cells along the edge of a face */
    int lm;       /* levels */
    int io_ranks; /* writers or readers */
    int arrays;   /* 3-D fields */
    int trials;   /* 0: as many as the original would make */
    bool split;   /* one file for each writer */
    bool whole;   /* a whole field in one gather, not one level */
    bool barrier; /* between gather and write, or after each scatter */
    bool no_io;   /* move data between ranks only */
    bool binary;  /* Fortran's sequential records in place of netCDF-4 */
    bool static_data;
    bool no_chunking;
    bool extra_info; /* two more hints */
} Problem;

typedef struct Config {
    Problem problem;
    const char *mode, *file_type; /* kernels; NULL: the simulator itself */
    const char *config_file, *directory, *hints_file, *json;
    Hints hints;
    bool original_hints, collective;
    bool
        both; /* the other direction too, not timed: reading back what was written, or writing what is read */
    bool cold; /* the nodes forget the files before each read */
    bool remove, help;
} Config;

typedef enum { KEY_COUNT, KEY_TRUTH, KEY_FALSEHOOD /* `.false.` sets the flag */ } KeyKind;

/* A key of the resource file. */
typedef struct Key {
    const char *name;
    KeyKind kind;
    size_t offset; /* of the field in Problem */
    bool required;
} Key;

typedef struct Program {
    const char *name;
    bool reads;
    const char *resource_file; /* read when no option names a problem */
    const OptionTable *options;
    const Key *keys;
    int key_count;
} Program;

/* Parses, reads resource and hints files, and checks. Ends the program on bad input or --help. Collective:
 * every rank gets the same. */
void config_read(Config *config, const Program *program, int argc, char **argv, MPI_Comm comm);

#endif
