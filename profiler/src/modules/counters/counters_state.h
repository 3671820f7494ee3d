/* The state of a process's counters in the spool, where a recovery finds it. */
#ifndef IOLENS_COUNTERS_STATE_H
#define IOLENS_COUNTERS_STATE_H

#include <stdint.h>

#include "../../tables/keyed.h"
#include "counter_set.h"
#include "counts.h"

struct counters_state {
    uint64_t events; /* of the processor, by the rows of `event` */
    uint32_t event[EVENTS_MOST];
    struct set_reasons reasons;
    uint64_t counted;              /* migrations have a counter of their own */
    char moved[PERF_REASON_BYTES]; /* why the run's migrations are not known without one */
    struct counts run;
    struct keyed regions; /* region_counters.h */
};

#endif
