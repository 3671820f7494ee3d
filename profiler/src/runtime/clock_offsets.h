/* How far this rank's monotonic clock is ahead of that of rank 0, as measured when the job began and when it
 * ended. */
#ifndef IOLENS_CLOCK_OFFSETS_H
#define IOLENS_CLOCK_OFFSETS_H

#include <stdbool.h>
#include <stdint.h>

enum { CLOCK_CHILDREN = 24 }; /* of 2^24 clocks */

struct clock_offset {
    int64_t ns, uncertainty_ns; /* it lies within ns +- uncertainty_ns */
    int64_t at_ns;              /* by this clock, when it was measured */
};

struct clock_offsets {
    int32_t clocks; /* different ones in the job; 0 and 1: nothing to compare */
    int32_t mine;   /* number of this rank's */
    bool first;     /* of the ranks with this clock, it is the first */
    bool ended;     /* `end` was measured */
    struct clock_offset begin, end;
    int64_t zero_ns; /* by this clock, moved by `begin`: the moment that all ranks agreed on */
    /* The clocks with which the first rank of a clock compares its own; -1 for none. */
    int32_t parent, children, child[CLOCK_CHILDREN];
};

#endif
