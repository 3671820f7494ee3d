/* The sentence in a log that says that it was recovered, and which parts are missing. */
#ifndef IOLENS_REASON_H
#define IOLENS_REASON_H

#include <stdbool.h>
#include <stddef.h>

struct reason {
    const char *why; /* Cause of the job's end, or NULL. */
    bool snapshot;   /* True if the job still runs. */
    bool replaced;   /* True for a process without MPI that became another program by exec. */
    int ranks;       /* Number of ranks of the job; 0 for a process without MPI. */
    const int *found;
    int found_count;      /* Number of ranks with a spool, whose numbers are listed in ascending order. */
    int overflowed_count; /* Number of ranks whose spools ran out of room. */
};

void reason_write(const struct reason *reason, char *text, size_t size);

#endif
