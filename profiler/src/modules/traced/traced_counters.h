/* The table of the counters of traced functions: sums by function and region. */
#ifndef IOLENS_TRACED_COUNTERS_H
#define IOLENS_TRACED_COUNTERS_H

#include <stdint.h>

#include "../../tables/keyed.h"
#include "../counters/counts.h"
#include "traced_functions.h"

enum { TRACED_DEEPEST = 64 }; /* Deepest nesting of calls in a thread for which counters are read. */

/* Sums over all threads. Each counter has its own number of `calls`, because it may exist in some threads
 * only. */
struct traced_sums {
    _Atomic int64_t calls, reading_ns, inside_ns;
    _Atomic int64_t of[COUNTERS_MOST], value[COUNTERS_MOST], enabled[COUNTERS_MOST], running[COUNTERS_MOST];
    _Atomic uint32_t node, throttled;
};

/* Counts calls for which counters could not be read. */
enum traced_trouble { TRACED_TOO_DEEP, TRACED_CUT, TRACED_TROUBLES };

/* The state of the table `traced_counters`: its rows have a struct traced_key and a struct traced_sums. */
struct traced_counters_state {
    struct keyed rows;
    _Atomic int64_t troubles[TRACED_TROUBLES];
};

extern const struct keyed_shape traced_sums_shape;

/* Forgets all open calls in a child of fork, whose only thread starts outside all traced calls. */
void traced_counters_reset(void);

#endif
