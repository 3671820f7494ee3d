/* The timed phases of a run. */
#ifndef METADATA_RUN_H
#define METADATA_RUN_H

#include "fail.h"
#include "latency.h"
#include "options.h"
#include "result.h"

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

typedef struct Items {
    const Config *config;
    MPI_Comm comm;
    int rank, ranks;
    unsigned char *content, *seen; /* `content`: the bytes of one file to write. `seen`: room for the bytes of
                                    * a file that is read. */
} Items;

void items_make(Items *items, const Config *config, MPI_Comm comm);
void items_free(Items *items);

/* Operations on file number `item` of the rank `owner`. An error is noted together with the path. */
void item_create(const Items *items, int owner, int item, Trouble *trouble);
void item_stat(const Items *items, int owner, int item, Trouble *trouble);
void item_read(const Items *items, int owner, int item, Trouble *trouble);
void item_remove(const Items *items, int owner, int item, Trouble *trouble);

/* Makes the folder of each rank, or the shared folder; an existing folder is an error. Collective: all ranks
 * get the same error. */
void folders_make(const Items *items, Trouble *trouble);
void folders_remove(const Items *items, Trouble *trouble);

/* After an error, removes this rank's remaining items and then the folders. Collective. */
void items_clear(const Items *items);

enum { PHASE_COUNT = 5 };

/* Results of one phase of one iteration. */
typedef struct Timed {
    long long items; /* Items of all ranks. */
    Spread seconds;  /* Seconds of each rank, from a barrier to the end of its last item: their spread over
                      * the ranks. */
    double rate;     /* Items per second, computed with the slowest rank's time. */
    Latency latency; /* Time of the operation on one item; empty (0 iterations) for --find, which is timed as
                      * a whole. */
    long long moved; /* Bytes written or read by all ranks. */
} Timed;

typedef struct Step {
    const char *name, *title; /* Name in the JSON, and in the printed table. */
    bool chosen;
    Timed *timed; /* Results of each iteration. */
} Step;

typedef struct Run {
    const Config *config;
    Items items;
    Step steps[PHASE_COUNT];
    long long found; /* Number of files that --find found. */
    double total_seconds;
} Run;

void run_prepare(Run *run, const Config *config, MPI_Comm comm);

/* Runs all iterations. After an error, removes the files and folders that this run created. Collective: all
 * ranks get the same error. */
void run_all(Run *run, Trouble *trouble);

void run_free(Run *run);

void report_header(const Run *run, int nodes);
void report_table(const Run *run);

/* Collective. Prints the results and writes the JSON. */
void report_json(const Run *run, int nodes, Trouble *trouble);

#endif
