/* What the kernel and the processor count while the program runs, for the process and for each region. */
#ifndef IOLENS_COUNTERS_H
#define IOLENS_COUNTERS_H

#include <stdbool.h>
#include <stdint.h>

/* Recording has begun in this process. */
void counters_start(void);

/* Recording is switched off, or on again. */
void counters_pause(bool on);

/* The calling thread enters a region, and leaves it: what `counters_enter` returned is handed to
 * `counters_leave`. NULL: nothing is counted. */
void *counters_enter(uint32_t thread, uint32_t region);
void counters_leave(void *counted);

#endif
