/* Values of all counters at one moment. */
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

/* Counters are numbered: first those of the kernel, then the chosen events of the processor. */
enum { COUNTERS_MOST = SOFT_COUNTERS + EVENTS_MOST };

/* Values of all counters at one moment, or differences between two moments. `enabled` is the time in ns for
 * which a counter was switched on, and `running` the part of it in which it really counted; both are 0 if the
 * counter does not exist. */
struct counts {
    int64_t value[COUNTERS_MOST], enabled[COUNTERS_MOST], running[COUNTERS_MOST];
};

/* Reads the processor time of `clock`, and the time for which the kernel's counters have been on and
 * counted. */
void counts_read_clock(struct counts *counts, clockid_t clock);

/* Reads the kernel's other counters; `who` is RUSAGE_SELF or RUSAGE_THREAD. */
void counts_read_usage(struct counts *counts, int who);

/* Adds the difference between two moments to `sum`. Peak memory is left out, because peaks cannot be
 * added. */
void counts_add_between(struct counts *sum, const struct counts *begin, const struct counts *end);

#endif
