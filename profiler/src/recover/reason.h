/* The sentence by which a log says that it was recovered, and what of it is missing. */
#ifndef IOLENS_REASON_H
#define IOLENS_REASON_H

#include <stdbool.h>
#include <stddef.h>

struct reason {
    const char *why; /* what happened, or NULL */
    bool snapshot;   /* the job still runs */
    bool replaced;   /* a process without MPI that became another program by exec */
    int ranks;       /* of the job; 0: a process without MPI */
    const int *found;
    int found_count;      /* ranks whose spools there are, ascending */
    int overflowed_count; /* of these, how many had no more room */
};

void reason_write(const struct reason *reason, char *text, size_t size);

#endif
