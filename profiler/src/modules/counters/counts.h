/* The counts of the kernel and the processor, read at one moment. */
#ifndef IOLENS_COUNTS_H
#define IOLENS_COUNTS_H

#include <stdint.h>
#include <time.h>

#include "counter_events.h"

enum soft_counter {
#define SOFT(identifier, name) SOFT_##identifier,
#include "counters_soft.def"
#undef SOFT
    SOFT_COUNTERS
};

/* Counters have numbers: those of the kernel first, then the events of the processor that were chosen. */
enum { COUNTERS_MOST = SOFT_COUNTERS + EVENTS_MOST };

/* All of them at one moment, or between two. `enabled` and `running` in ns: how long each was to count, and
 * how long it did; 0: it does not. */
struct counts {
    int64_t value[COUNTERS_MOST], enabled[COUNTERS_MOST], running[COUNTERS_MOST];
};

/* The processor time that `clock` shows, and for how long the kernel's counters have counted. */
void counts_read_clock(struct counts *counts, clockid_t clock);

/* The kernel's other counters of `who`: RUSAGE_SELF or RUSAGE_THREAD. */
void counts_read_usage(struct counts *counts, int who);

/* `sum` grows by what came between two moments. The peak of memory does not grow by differences. */
void counts_add_between(struct counts *sum, const struct counts *begin, const struct counts *end);

#endif
