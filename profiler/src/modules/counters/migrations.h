/* How often the kernel moved this process's threads to another processor, without a counter of its own: as
 * long as no thread has ended, for the number of one that ended is gone with it. */
#ifndef IOLENS_MIGRATIONS_H
#define IOLENS_MIGRATIONS_H

#include <stddef.h>
#include <stdint.h>

struct migrations {
    int64_t moves;   /* of the threads that there are; -1: the kernel does not tell */
    int64_t threads; /* that there are, less those that were started through the C library */
};

void migrations_read(struct migrations *now);

/* The moves between two moments; -1, and why in `reason`, where they are not known. */
int64_t migrations_between(const struct migrations *begin, const struct migrations *end, char *reason,
                           size_t bytes);

#endif
