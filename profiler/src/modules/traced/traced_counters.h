/* The table of the counters of traced functions: sums by function and region. */
#ifndef IOLENS_TRACED_COUNTERS_H
#define IOLENS_TRACED_COUNTERS_H

#include <stdint.h>

#include "../../tables/keyed.h"
#include "../counters/counts.h"
#include "traced_functions.h"

enum { TRACED_DEEPEST = 64 }; /* calls that a thread is in at once, and that have counters */

/* Sums over all threads. Each counter has its own number of `calls`, because it may exist in some threads
 * only. */
struct traced_sums {
    _Atomic int64_t calls, reading_ns, inside_ns;
    _Atomic int64_t of[COUNTERS_MOST], value[COUNTERS_MOST], enabled[COUNTERS_MOST], running[COUNTERS_MOST];
    _Atomic uint32_t node, throttled;
};

/* Calls without counters, though those before and after have them. */
enum traced_trouble { TRACED_TOO_DEEP, TRACED_CUT, TRACED_TROUBLES };

/* The state of the table `traced_counters`: its rows have a struct traced_key and a struct traced_sums. */
struct traced_counters_state {
    struct keyed rows;
    _Atomic int64_t troubles[TRACED_TROUBLES];
};

extern const struct keyed_shape traced_sums_shape;

/* In a child of fork: its one thread is in no call that its log knows. */
void traced_counters_reset(void);

#endif
