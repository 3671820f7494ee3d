/* The places of sampled threads and their timers. */
#ifndef IOLENS_SAMPLING_THREADS_H
#define IOLENS_SAMPLING_THREADS_H

#include <signal.h>

#include "state.h"

/* A place and a running timer that raises `number` in the calling thread; NULL: there is none. */
struct sampled_thread *thread_begin(struct sampling *sampling, int number);

/* The thread ends, or is no longer sampled; its place is free for another one. False: that was known. */
bool thread_end(struct sampling *sampling, struct sampled_thread *thread);

/* The thread that a signal of a timer is for; NULL: it is none of ours. */
struct sampled_thread *thread_of(struct sampling *sampling, const siginfo_t *info);

/* Returns the current time by the clock of a thread's timer. */
int64_t thread_on_core_ns(void);

/* Now, by the clock of a thread's timer. */
double thread_now(const struct sampling *sampling, const struct sampled_thread *thread);

#endif
