/* Counters of one thread, opened when the thread first enters a region or a traced function. */
#ifndef IOLENS_THREAD_COUNTERS_H
#define IOLENS_THREAD_COUNTERS_H

#include "counts.h"

/* Reads the calling thread's counters where a counted section begins, and where it ends. */
void counters_begin(struct counts *now);
void counters_end(struct counts *now);

/* Forgets the counters of threads in a child of fork, which has no open counters yet. */
void thread_counters_reset(void);

#endif
