/* One log from the spools of one job: a process per spool plays the rank that wrote it. */
#ifndef IOLENS_MERGE_H
#define IOLENS_MERGE_H

#include "load.h"

struct merge_options {
    const char *folder; /* of the log; NULL: where the job would have written it */
    const char *why;    /* what happened; NULL: not known */
    bool snapshot;      /* the job still runs */
};

/* Prints the log's name. Returns an exit code: 0, or 1 when there is no log. */
int merge_spools(char *const *paths, int count, const struct merge_options *options);

#endif
