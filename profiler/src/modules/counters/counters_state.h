/* The counter values of a process in its spool, from which `iolens recover` can read them. */
#ifndef IOLENS_COUNTERS_STATE_H
#define IOLENS_COUNTERS_STATE_H

#include <stdint.h>

#include "../../tables/keyed.h"
#include "counter_set.h"
#include "counts.h"

struct counters_state {
    uint64_t events; /* Number of entries in `event`: the processor's events that are counted. */
    uint32_t event[EVENTS_MOST];
    struct set_reasons reasons;
    uint64_t counted; /* True if the user asked for counters of the processor; a perf counter then counts the
                         migrations, too. */
    /* Reason why the number of migrations during the run is unknown; used if no perf counter counts them. */
    char moved[PERF_REASON_BYTES];
    struct counts run;
    struct keyed regions; /* Rows of counter values by region: see region_counters.h. */
};

#endif
