/* Sampling: a timer per thread interrupts the thread at a steady rate, and the place where it was is
 * counted. */
#ifndef IOLENS_SAMPLING_H
#define IOLENS_SAMPLING_H

#include <signal.h>

#include "state.h"

struct sampled_wait;

/* Starts sampling when recording begins, if IOLENS_SAMPLE requests it. Called in the main thread. */
void sampling_start(void);

/* Sets the function that is called once when sampling starts, or at once if it has started. Called when the
 * library is loaded. */
void sampling_when_started(void (*hold)(void));

/* Prepare sampling for a fork: called before the calling thread forks, and after it has forked. */
void sampling_before_fork(void);
void sampling_after_fork(void);

/* Starts sampling in a child of fork once it can record, because timers are not inherited. */
void sampling_start_child(void);

/* Ends sampling: no thread is interrupted from now on. */
void sampling_stop(void);

/* Returns true if any sample was taken. */
bool sampling_has_samples(void);

/* Gives the calling thread a timer until it ends. */
void sampling_enter(void);

/* Removes the calling thread's timer before the thread ends, where an interruption would do harm. */
void sampling_leave(void);

/* Returns the name of the debugger because of which nothing is sampled; NULL if there is none. */
const char *sampling_debugger(void);

/* Returns the signal of the timers; 0: this process is not sampled. */
int sampling_signal(void);

/* The first function counts a thread that the process has started, whether it is sampled or not; the second
 * returns the number of such threads so far. */
void sampling_thread_started(void);
int64_t sampling_started_threads(void);

/* Returns true in a thread that has a timer. */
bool sampling_here(void);

/* sampling_hold blocks the timers' signal in this thread before a call that a signal would end early; it
 * returns false if the signal was blocked before, and then stays blocked. sampling_release lets the signal
 * through again; the sample then taken counts for the whole wait.
 *
 * If recording ends during the wait, the wait so far counts if `wait` describes it; `wait` may be NULL. Both
 * functions leave errno unchanged. */
bool sampling_hold(const struct sampled_wait *wait);
void sampling_release(bool held);

/* Notes that the program changes which signals this thread blocks; called before (`begins`) and after. A
 * sample that stands for several periods is then taken where the signal was let through, which does not show
 * where the thread was before. */
void sampling_mask_changes(bool begins);

/* Goes on with waits for io_uring that a sampling signal has ended. A program that was linked with a static
 * liburing makes this system call itself, so that no wrapper holds the signal back. */

/* Called at the end of the handler with the interrupted thread's registers. A wait for a length of time may
 * take one period of the timers longer. */
void ring_waits_continue(void *interrupted);

/* Holds the timers' signal back while the function `real` waits. Must be expanded in the wrapper itself,
 * because it records the wrapper's caller. */
#define HOLD(real)                                                                                           \
    sampling_hold(&(struct sampled_wait){(uintptr_t)(real), (uintptr_t)__builtin_return_address(0),          \
                                         (uintptr_t)__builtin_frame_address(0)})

/* Returns the signal mask to use during a wait: a copy of `mask` in `copy`, with the timers' signal added.
 * Returns NULL if `mask` is NULL. */
static inline sigset_t *held_mask(const sigset_t *mask, sigset_t *copy)
{
    if (!mask)
        return NULL;
    *copy = *mask;
    if (sampling_signal() != 0)
        sigaddset(copy, sampling_signal());
    return copy;
}

#endif
