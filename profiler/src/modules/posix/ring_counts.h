/* Counts of the activity in this process's rings of io_uring. */
#ifndef IOLENS_RING_COUNTS_H
#define IOLENS_RING_COUNTS_H

#include <stdatomic.h>
#include <stdint.h>

enum ring_count {
#define RING_COUNT(name, unit, meaning) RING_COUNT_##name,
#include "ring_counts.def"
#undef RING_COUNT
    RING_COUNTS
};

struct ring_counts {
    _Atomic int64_t values[RING_COUNTS];
};

/* Adds to a count, unless recording is paused. */
void ring_counts_add(enum ring_count which, int64_t amount);

#endif
