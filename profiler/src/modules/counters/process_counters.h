/* The counts in all threads of this process together, from the begin of recording to the end. */
#ifndef IOLENS_PROCESS_COUNTERS_H
#define IOLENS_PROCESS_COUNTERS_H

#include <stdbool.h>
#include <stdint.h>

#include "counter_events.h"
#include "counters_state.h"

/* Recording has begun in this process. */
void counters_start(void);

/* Recording is switched off, or on again. */
void counters_pause(bool on);

/* In a child of fork: the counters of its parent are not its own. False: there were none. */
bool counters_reset(void);

/* The data recorded about traced calls: bits of enum iolens_tracing, with counters if events of the
 * processor were requested. */
extern unsigned iolens_counters_tracing;

/* Changes whenever counting begins anew or recording is switched: a difference across that is no count. */
uint32_t counters_epoch(void);

const struct event_choice *counters_choice(void);

/* Events of the processor were asked for, and are counted. */
bool counters_matter(void);

/* Where regions are counted, or NULL. */
struct counters_state *counters_of_regions(void);

/* Bring `run` of the state up to date: now, and when recording ends. */
void counters_read_so_far(void);
void counters_read_run(void);

#endif
