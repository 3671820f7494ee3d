/* The settings of one test: IOR's options, from the command line, -O directives and script files. */
#ifndef IOR_SETTINGS_H
#define IOR_SETTINGS_H

#include "hints.h"
#include "options.h"

#define DRIVER_LIBRARY     "library"
#define DRIVER_LUSTRE_LIKE "lustre-like"

typedef struct Settings {
    const char *api, *driver, *file, *script, *packet, *summary_format, *summary_file, *rank_csv,
        *operation_csv;
    const char *wearout_file, *hints_file, *directory, *json, *pool;
    int64_t block, transfer, segments, memory_per_node, wearout_pairs;
    int repetitions, tasks, task_offset, seed, signature, reference, delay, minutes, outlier, verbosity;
    int minimum_seconds, deadline, shift_random, order_random, stripe_count, start_target;
    int64_t stripe_size, alignment;
    bool write, read, check_write, check_read, collective, own_file, shift, sync, sync_each, barriers, keep,
        keep_with_error, existing, many_files, own_directory, once, show_hints, view, strided, preallocate,
        no_fill, direct, cold, wearout, dry, warnings_fatal, help;
    Hints hints;
} Settings;

typedef struct Tests {
    int count;
    Settings *list;
} Tests;

extern const OptionTable IOR_OPTIONS;

/* Returns the tests of the command line and its script, checked for the ranks of `comm`. Collective; ends the
 * program with status 2 on an error, with 0 after --help. */
Tests settings_read(int argc, char **argv, MPI_Comm comm);

#endif
