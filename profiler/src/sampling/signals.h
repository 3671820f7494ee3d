/* The signal of the timers, which the program may also use for its own purposes. */
#ifndef IOLENS_SAMPLING_SIGNALS_H
#define IOLENS_SAMPLING_SIGNALS_H

#include <signal.h>
#include <stdbool.h>

typedef void signal_handler(int number, siginfo_t *info, void *context);

/* Takes a real-time signal that nobody handles for the handler; returns its number, or 0. */
int signals_take(signal_handler *handler);

/* Passes a signal that did not come from a timer on to the program's own action. */
void signals_forward(int number, siginfo_t *info, void *context);

/* Ends the interrupted system call with EINTR, which the kernel is about to repeat, if a pending signal of
 * the program would have ended the call (signal(7): its handler has no SA_RESTART). Called at the end of the
 * handler. */
void signals_interrupt(void *context);

/* Does the work of `sigaction` for a signal that sampling uses. */
int signals_share(const struct sigaction *wanted, struct sigaction *before);

/* Blocks one signal in this thread, or lets it through; returns true if it was blocked before. */
bool signals_block(int number);
void signals_let(int number);

#endif
