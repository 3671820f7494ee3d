/* The times at which samples were taken, if the user requests them. */
#ifndef IOLENS_SAMPLING_TIMES_H
#define IOLENS_SAMPLING_TIMES_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

enum { TIMES_PER_CHUNK = 1024 };

/* `thread`: its number; `time`: seconds since this process started recording. */
struct sample_time {
    double time;
    uint32_t thread, node, periods, waited;
};

struct sample_times_chunk {
    struct sample_times_chunk *older; /* The chunk before this one; NULL in the first chunk. */
    /* Number of samples for which room was requested in this chunk; may exceed the chunk's size. */
    _Atomic int64_t used;
    struct sample_time entry[TIMES_PER_CHUNK];
};

/* The state of `sample_times`. */
struct sample_times {
    int64_t most; /* Largest number of samples that are kept. */
    _Atomic(struct sample_times_chunk *) newest;
    _Atomic int64_t kept, left_out;
};

/* Adds `entry` to `times`, or counts it as left out if there is no room; does nothing if `times` is NULL. May
 * be called from a signal handler. */
void sample_times_keep(struct sample_times *times, const struct sample_time *entry);

/* Returns the number of filled entries of a chunk. */
int64_t sample_times_in(const struct sample_times_chunk *chunk);

#endif
