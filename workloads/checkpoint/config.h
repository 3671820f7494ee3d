/* The configuration of a run of a simulator: options, the original's resource file, and the checks that
 * need no data file. Writing (checkpoint) and reading (restart) differ in a table of options and a table of
 * keys. */
#ifndef CHECKPOINT_CONFIG_H
#define CHECKPOINT_CONFIG_H

#include "hints.h"
#include "options.h"

/* The problem in MAPL's flags and resource files; all zero if none was given. */
typedef struct Problem {
    int nx, ny;   /* Number of ranks along i and j of each face. With --mode (writing or gathering alone),
                   * `nx` is instead the number of cells along an edge of a face, and `ny` is not used. */
    int im_world; /* Cells along an edge of the cube. */
    int lm;       /* Number of levels. */
    int io_ranks; /* Number of writers or readers. */
    int arrays;   /* Number of 3-D fields. */
    int trials;   /* Number of trials; 0: as many as the original would make. */
    bool split;   /* True if each writer has its own file. */
    bool whole;   /* True if a gather moves a whole field at once, and false if it moves one level. */
    bool barrier; /* True if a barrier stands between gather and write, or behind each scatter. */
    bool no_io;   /* True if data only moves between ranks and not to files. */
    bool binary;  /* True if the files have Fortran's sequential records; false if they are netCDF-4. */
    bool static_data;
    bool no_chunking;
    bool extra_info; /* True if two additional hints are set, as the original's option does. */
} Problem;

typedef struct Config {
    Problem problem;
    const char *mode, *file_type; /* Mode and file type of a kernel; NULL: the simulator itself. */
    const char *config_file, *directory, *hints_file, *json;
    Hints hints;
    bool original_hints, collective;
    /* True if the run also does the other direction, untimed: a write run reads its data afterwards, and a
     * read run writes the data before it reads. */
    bool both;
    bool cold; /* True if the nodes drop the files from memory before each read. */
    bool remove, help;
} Config;

/* Kinds of values of a key. KEY_FALSEHOOD is for keys whose flag in Problem is set if the value is
 * `.false.`. */
typedef enum { KEY_COUNT, KEY_TRUTH, KEY_FALSEHOOD } KeyKind;

/* A key of the resource file. */
typedef struct Key {
    const char *name;
    KeyKind kind;
    size_t offset; /* Offset of the field in Problem. */
    bool required;
} Key;

typedef struct Program {
    const char *name;
    bool reads;
    const char *resource_file; /* Name of the resource file that is read if no option names a problem. */
    const OptionTable *options;
    const Key *keys;
    int key_count;
} Program;

/* Parses the options, reads the resource and hints files, and checks all values. Ends the program on bad
 * input or --help. Collective: every rank gets the same configuration. */
void config_read(Config *config, const Program *program, int argc, char **argv, MPI_Comm comm);

int simulate(const Program *program, int argc, char **argv);

/* Runs single parts of a checkpoint: raw_bw (each writer writes, closes and removes a file of its own),
 * gatherv (an equal share of every rank to its writer), combo (both, one after the other). Writer groups are
 * as equal as `rank * writers / ranks` makes them. */

void kernel_check(const Config *config, int ranks, Trouble *trouble);

/* Runs a kernel and returns the exit status. Collective. */
int kernel_run(const Program *program, const Config *config, MPI_Comm world);

#endif
