/* Makes one log from the spools of one job: one process per spool plays the rank that wrote it. */
#ifndef IOLENS_MERGE_H
#define IOLENS_MERGE_H

#include "load.h"

struct merge_options {
    const char *folder; /* Folder of the log; NULL for the folder that the job would have used. */
    const char *why;    /* Cause of the job's end; NULL if unknown. */
    bool snapshot;      /* True if the job still runs. */
};

/* Makes the log and prints its name. Returns an exit code: 0, or 1 if there is no log. */
int merge_spools(char *const *paths, int count, const struct merge_options *options);

#endif
