/* What the kernel and the processor count while the program runs, for the process and for each region. */
#ifndef IOLENS_COUNTERS_H
#define IOLENS_COUNTERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "counter_events.h"

enum soft_counter {
#define SOFT(identifier, name) SOFT_##identifier,
#include "counters_soft.def"
#undef SOFT
    SOFT_COUNTERS
};

/* Counters have numbers: those of the kernel first, then the events of the processor that were chosen. */
enum {
    COUNTERS_MOST = SOFT_COUNTERS + EVENTS_MOST,
    COUNTER_NAME_BYTES = 64,
    COUNTER_PLACES = SOFT_COUNTERS + EVENTS
};

/* All of them at one moment, or between two. `enabled` and `running` in ns: how long each was to count, and
 * how long it did; 0: it does not. */
struct counts {
    int64_t value[COUNTERS_MOST], enabled[COUNTERS_MOST], running[COUNTERS_MOST];
};

/* Recording has begun in this process. */
void counters_start(void);

/* Recording is switched off, or on again. */
void counters_pause(bool on);

/* The calling thread enters a region, and leaves it: what `counters_enter` returned is handed to
 * `counters_leave`. NULL: nothing is counted. */
void *counters_enter(uint32_t region);
void counters_leave(void *counted);

/* What is recorded of traced calls: bits of enum iolens_tracing, with counters where events of the processor
 * were asked for. */
extern unsigned iolens_counters_tracing;

/* Changes whenever counting begins anew or recording is switched: a difference across that is no count. */
uint32_t counters_epoch(void);

/* Of the calling thread, at the begin and at the end of what is counted. */
void counters_begin(struct counts *now);
void counters_end(struct counts *now);

/* How many counters there are; 0: none were read. Of a recovered process too, as all below. */
int counters_number(void);

/* False where the counter says nothing of a part of the run. */
bool counter_is_of_parts(int counter);

const char *counter_name(int counter);

/* A number below COUNTER_PLACES for each name that a counter may have. */
size_t counter_place(const char *name);

/* Why there is no count of a part of the run that ran so many ns: a sentence; "": there is one. */
const char *counter_missing(int counter, int64_t running);

#endif
