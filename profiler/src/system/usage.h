/* Processor time of the threads of this process, and how long they waited for a core, as the kernel counts
 * both. */
#ifndef IOLENS_USAGE_H
#define IOLENS_USAGE_H

#include <stdint.h>
#include <time.h>

/* Seconds since the thread began. `runnable`: seconds in which the thread was ready to run but had no core;
 * NaN if the kernel does not count them. */
struct usage {
    double on_core, runnable;
};

struct usage usage_of_thread(int32_t kernel_id);

/* Returns what the thread used between two readings. */
struct usage usage_between(struct usage begin, struct usage end);

/* Returns the clock of the thread's processor time, which any thread of the process can read. */
clockid_t usage_clock(int32_t kernel_id);

#endif
