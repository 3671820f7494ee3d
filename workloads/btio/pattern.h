/* BT's I/O pattern without the solver, as Northwestern's BTIO has it: every rank holds its cells with two
 * ghost points around, in one array [cell][z][y][x][component], and writes or reads all of them, dump after
 * dump.
 *
 * Component m of point (x, y, z) of dump d is element m + 5 (x + nx (y + ny (z + nz d))) of the file. Its
 * value is the number of that element, so that misplaced data is found. */
#ifndef BTIO_PATTERN_H
#define BTIO_PATTERN_H

#include <limits.h>

#include "domain.h"
#include "hints.h"
#include "options.h"
#include "result.h"

/* The configuration of a run of BT's I/O pattern alone: options, or the five lines of Northwestern's
 * inputbt.data. */

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

typedef struct Pattern Pattern;

typedef struct PatternMethod {
    const char *name, *number, *title, *file;
    bool through_mpi;
    void (*open)(Pattern *pattern, bool writing); /* Collective; NULL if the method was not compiled in. */
    void (*move)(Pattern *pattern, int dump, bool writing);
    void (*close)(Pattern *pattern);
} PatternMethod;

struct Pattern {
    const PatternMethod *method;
    const Domain *domain;
    int dumps; /* Number of dumps in the file. */
    bool per_cell;
    MPI_Info info;
    char path[PATH_MAX];
    double *field;       /* Array [cell][padded]. */
    int padded[3];       /* Size of a cell's array along x, y, z. */
    MPI_Datatype point;  /* Type of a point: five components. */
    MPI_Datatype *cells; /* For each cell, a type of its own points within its array. */
    MPI_Datatype all;    /* Type of the own points of all cells within the field. */
    MPI_Datatype view;   /* MPI methods: type of the own points within one dump of the file. */
    MPI_File file;
    int nc, variable, *requests; /* PnetCDF methods: file, variable and requests. */
    double setup_seconds, post_seconds, wait_seconds;
    long long calls; /* Number of data calls since the file was opened. */
    Hints effective; /* Hints that the library reports for the open file. */
    Trouble trouble;
};

extern const PatternMethod PATTERN_MPI_COLLECTIVE, PATTERN_MPI_INDEPENDENT, PATTERN_PNETCDF,
    PATTERN_NONBLOCKING;
extern const char PATTERN_METHOD_NAMES[];

/* Returns the method with this name or number; NULL if there is none. */
const PatternMethod *pattern_method_named(const char *name);

/* Allocates memory and makes the types of the field. Collective. */
void pattern_make(Pattern *pattern, const PatternConfig *config, const Domain *domain);
void pattern_free(Pattern *pattern);

/* Returns the first double of a cell's array. */
double *pattern_cell(const Pattern *pattern, int cell);

/* Fills the own points with the values of `dump`; ghost points keep their values. */
void pattern_fill(const Pattern *pattern, int dump);

/* Sets every value to NaN before a read, so that a value that is not read is found. */
void pattern_spoil(const Pattern *pattern);

/* Returns the number of components of own points that differ from the values of `dump`. */
long long pattern_differences(const Pattern *pattern, int dump);

/* Results of one operation; times are in seconds, as spreads over the ranks. */
typedef struct Operation {
    bool writing;
    Spread total; /* Time from before the file is opened until it is closed. */
    /* Times of opening, of the calls of all dumps, and of waiting for nonblocking calls. */
    Spread setup, post, wait;
    Spread transfer; /* Time of the calls and the waiting together. */
    long long calls; /* Number of data calls of a rank. */
    /* Number of values, on all ranks, that differ from the written ones; 0 if they were not compared. */
    long long wrong;
} Operation;

/* Performs one operation. If it fails, removes the file and ends the program. Collective. */
Operation pattern_operate(Pattern *pattern, bool writing, bool check);

/* Runs the I/O pattern without the solver: reads the options and returns the exit status. */
int pattern_main(int argc, char **argv, MPI_Comm comm);

typedef struct PatternReport {
    const PatternConfig *config;
    const Pattern *pattern;
    int count;
    const Operation *operations;
    ResultFile file;             /* Facts about the file after the last operation. */
    const char *status, *detail; /* Result of the verification and its explanation. */
} PatternReport;

/* Prints the lines about one operation. Called by rank 0. */
void pattern_print(const PatternReport *report, const Operation *operation);

/* Writes the file of --json. Collective; notes errors. */
void pattern_json(const PatternReport *report, Trouble *trouble);

#endif
