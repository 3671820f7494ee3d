/* Number of times the kernel moved threads of this process to another processor, read without a perf counter.
 * The number is known only while no thread has ended, because the kernel drops an ended thread's number. */
#ifndef IOLENS_MIGRATIONS_H
#define IOLENS_MIGRATIONS_H

#include <stddef.h>
#include <stdint.h>

struct migrations {
    int64_t moves;   /* Number of moves of all threads that exist now; -1 if the kernel does not tell it. */
    int64_t threads; /* Number of threads that exist now, minus the number of those that were started through
                        the C library. */
};

void migrations_read(struct migrations *now);

/* Returns the number of moves between two moments; if unknown, returns -1 and writes the cause to
 * `reason`. */
int64_t migrations_between(const struct migrations *begin, const struct migrations *end, char *reason,
                           size_t bytes);

#endif
