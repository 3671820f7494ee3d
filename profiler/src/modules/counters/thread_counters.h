/* Counters of a thread that enters regions or traced functions, opened when it does so first. */
#ifndef IOLENS_THREAD_COUNTERS_H
#define IOLENS_THREAD_COUNTERS_H

#include "counts.h"

/* Read those of the calling thread, at the begin and at the end of what is counted. */
void counters_begin(struct counts *now);
void counters_end(struct counts *now);

/* In a child of fork, which has none yet. */
void thread_counters_reset(void);

#endif
