/* Converts a rank's clock to the job's clock, which starts when the first rank loads the library. */
#ifndef IOLENS_TIMELINE_H
#define IOLENS_TIMELINE_H

#include <stdbool.h>
#include <stdint.h>

struct timeline {
    double factor; /* Recorded seconds are multiplied by this factor. */
    double shift;  /* Seconds that are added after the multiplication. */
    double end;    /* End of the job on the job's clock, the same on all ranks. */
};

static inline double timeline_at(const struct timeline *line, double recorded)
{
    return recorded * line->factor + line->shift;
}

/* The amount by which this rank's monotonic clock is ahead of rank 0's, as measured when the job began and
 * when it ended. */

enum { CLOCK_CHILDREN = 24 }; /* Largest number of children of a clock, enough for 2^24 clocks. */

struct clock_offset {
    int64_t ns, uncertainty_ns; /* The offset lies within ns +- uncertainty_ns. */
    int64_t at_ns;              /* Time of the measurement, by this clock. */
};

struct clock_offsets {
    int32_t clocks; /* Number of different clocks in the job; 0 and 1 need no comparison. */
    int32_t mine;   /* Number of this rank's clock. */
    bool first;     /* True on the first of the ranks that share this clock. */
    bool ended;     /* True if `end` was measured. */
    struct clock_offset begin, end;
    int64_t zero_ns; /* The moment on which all ranks agreed, by this clock, corrected by `begin`. */
    /* Ranks with which the first rank of this clock compares its clock: `parent` (-1 if there is none) and
     * the first `children` entries of `child`. */
    int32_t parent, children, child[CLOCK_CHILDREN];
};

/* The rank's place in the job. 0 ranks: there is no such job, or its log is not written yet. */
struct finalized {
    int32_t rank, ranks;
};

#endif
