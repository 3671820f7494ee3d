/* Searches a tree of folders for files by name, size and age, with all ranks at once. */
#ifndef METADATA_FIND_H
#define METADATA_FIND_H

#include "config.h"
#include "fail.h"

typedef struct Findings {
    long long files, found; /* Numbers of files examined and of files that match the options, over all
                             * ranks. */
} Findings;

/* Finds the files that the options ask for. Every rank lists all folders, and examines its share of the
 * files, which depends on their names. Collective. */
Findings find_below(const Config *config, MPI_Comm comm, Trouble *trouble);

#endif
