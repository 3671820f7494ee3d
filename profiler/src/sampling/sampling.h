/* Sampling: a timer per thread interrupts it at a steady rate, and where it was is counted. */
#ifndef IOLENS_SAMPLING_H
#define IOLENS_SAMPLING_H

#include <stdbool.h>
#include <stdint.h>

struct sampled_wait;

/* When recording begins, in the main thread; does nothing unless IOLENS_SAMPLE asks for it. */
void sampling_start(void);

/* Called when the library is loaded: `hold` is to be called once if sampling starts, or has. */
void sampling_when_started(void (*hold)(void));

/* The calling thread is about to fork, and has forked. */
void sampling_before_fork(void);
void sampling_after_fork(void);

/* In the child, when it is ready to record: it has no timers yet. */
void sampling_start_child(void);

/* No thread is interrupted from now on. */
void sampling_stop(void);

/* Returns true if any sample was taken. */
bool sampling_has_samples(void);

/* The calling thread gets a timer, until it ends. */
void sampling_enter(void);

/* The calling thread loses its timer before it ends: it can be interrupted no more without harm. */
void sampling_leave(void);

/* Returns the name of the debugger because of which nothing is sampled; NULL if there is none. */
const char *sampling_debugger(void);

/* The signal of the timers; 0: this process is not sampled. */
int sampling_signal(void);

/* The process has started a thread; how many there were until now, sampled or not. */
void sampling_thread_started(void);
int64_t sampling_started_threads(void);

/* True in a thread that has a timer. */
bool sampling_here(void);

/* Hold the signal back in this thread while it waits in a call that a signal would end early, and let it
 * through again: the sample that comes then counts for all of the wait. When recording ends meanwhile, the
 * wait counts as far as it went, if it is described; `wait` may be NULL. False: it was not let through
 * before, and is not to be let through. Both leave errno as it is. */
bool sampling_hold(const struct sampled_wait *wait);
void sampling_release(bool held);

/* The program begins, and has ended, to change which signals this thread holds back: a sample that stands for
 * several periods then says where it let the signal through, and nothing of where it was before. */
void sampling_mask_changes(bool begins);

#endif
