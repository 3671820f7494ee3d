/* Gives each sampled thread a place, which is an entry of `thread` in struct sampling, and a timer. */
#ifndef IOLENS_SAMPLING_THREADS_H
#define IOLENS_SAMPLING_THREADS_H

#include <signal.h>

#include "state.h"

/* Returns a place with a running timer that raises `number` in the calling thread; NULL if there is none. */
struct sampled_thread *thread_begin(struct sampling *sampling, int number);

/* Ends the sampling of a thread and makes its place free, because the thread ends or recording does. Returns
 * false if that was done before. */
bool thread_end(struct sampling *sampling, struct sampled_thread *thread);

/* Returns the thread whose timer raised a signal; NULL if the signal is not from one of our timers. */
struct sampled_thread *thread_of(struct sampling *sampling, const siginfo_t *info);

/* Returns the processor time of the calling thread, in nanoseconds. */
int64_t thread_on_core_ns(void);

/* Returns the current time by the clock of a thread's timer. */
double thread_now(const struct sampling *sampling, const struct sampled_thread *thread);

#endif
