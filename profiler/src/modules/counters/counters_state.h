/* The counter values of a process in its spool, from which `iolens recover` can read them. */
#ifndef IOLENS_COUNTERS_STATE_H
#define IOLENS_COUNTERS_STATE_H

#include <stdint.h>

#include "../../tables/keyed.h"
#include "counter_set.h"
#include "counts.h"

struct counters_state {
    uint64_t events; /* Values of the processor's events, in the order of the rows of `event`. */
    uint32_t event[EVENTS_MOST];
    struct set_reasons reasons;
    uint64_t counted; /* True if a perf counter counts the migrations. */
    /* Why the number of migrations in the run is unknown; used if no perf counter counts them. */
    char moved[PERF_REASON_BYTES];
    struct counts run;
    struct keyed regions; /* Rows of counter values by region: see region_counters.h. */
};

#endif
