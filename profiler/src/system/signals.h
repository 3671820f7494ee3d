/* Holds back a signal that a system call of the recorder may raise, so that the program never sees the
 * signal. */
#ifndef IOLENS_SIGNALS_H
#define IOLENS_SIGNALS_H

#include <signal.h>
#include <stdbool.h>

struct held_signal {
    int number;
    sigset_t set, mask_before;
};

/* Does the work of pthread_sigmask, which the library wraps for the program. */
void signals_set_mask(int how, const sigset_t *set, sigset_t *before);

/* Holds back a signal in this thread. Works only for signals that the calling thread itself raises, like
   SIGXFSZ beyond the file size limit. */
struct held_signal signal_hold(int number);

/* Discards the signal if it was raised meanwhile, and lets later ones through again. */
void signal_release(const struct held_signal *held);

/* A section of code that holds a lock for a long time, because it waits for the system or moves much memory.
 * Other threads wait for the lock until the section ends. Neither a signal handler nor a cancellation may end
 * the thread inside the section. */

struct long_section {
    sigset_t mask_before;
    int cancellable;
};

/* Begins the section. All signals are held back except `except`, which stays as it is; 0 for no exception. */
struct long_section long_section_begin(int except);

void long_section_end(const struct long_section *section);

/* Must be called in a child of fork: the parent's other threads, some of which may be in a long section, do
 * not exist there. */
void long_section_forget_others(void);

/* Calls `what` on a separate stack with signals blocked, because their handlers must run on the thread's
 * own stack; SIGXFSZ is blocked only where it can be raised (signals.h). Without memory, `what` is called
 * on the thread's stack. Costs some microseconds. */
void on_own_stack(void (*what)(void));

/* Calls the function on the thread's own stack if that is certainly large; else on other memory. Signals are
 * not blocked. Returns false, without a call, if there is no memory. */
bool on_enough_stack(void (*what)(void));

#endif
