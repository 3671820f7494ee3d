/* Counter values in the regions that the program marks, by thread and region. */
#ifndef IOLENS_REGION_COUNTERS_H
#define IOLENS_REGION_COUNTERS_H

#include <stdint.h>

#include "../../tables/keyed.h"
#include "counts.h"

/* Key of a row of counter values: a thread and a region. */
struct region_key {
    uint32_t thread, region;
};

struct region_counts {
    struct counts begin, sum;
};

extern const struct keyed_shape region_counts_shape;

/* Count the events in a region: called when the thread enters and leaves it. `counters_leave` takes the value
 * that `counters_enter` returned; NULL means that nothing is counted. */
void *counters_enter(uint32_t region);
void counters_leave(void *counted);

#endif
