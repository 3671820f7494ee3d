/* Counters of one thread, opened when the thread first enters a region or a traced function. */
#ifndef IOLENS_THREAD_COUNTERS_H
#define IOLENS_THREAD_COUNTERS_H

#include <stdint.h>

#include "../../tables/keyed.h"
#include "counts.h"

/* Reads the calling thread's counters where a counted section begins, and where it ends. */
void counters_begin(struct counts *now);
void counters_end(struct counts *now);

/* Forgets the counters of threads in a child of fork, which has no open counters yet. */
void thread_counters_reset(void);

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
