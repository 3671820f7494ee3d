/* The signal of the timers, shared with a program that has a use of its own for it. */
#ifndef IOLENS_SAMPLING_SIGNALS_H
#define IOLENS_SAMPLING_SIGNALS_H

#include <signal.h>
#include <stdbool.h>

typedef void signal_handler(int number, siginfo_t *info, void *context);

/* Take a real-time signal that nobody handles for the handler; its number, or 0. */
int signals_take(signal_handler *handler);

/* The signal came from elsewhere: do what the program wants done with it. */
void signals_forward(int number, siginfo_t *info, void *context);

/* At the end of the handler: the kernel is about to repeat the system call that was interrupted. Where a
 * signal of the program's waits that would have ended it (signal(7): its handler has no SA_RESTART), it ends
 * with EINTR instead. */
void signals_interrupt(void *context);

/* Does the work of `sigaction` for a signal that sampling uses. */
int signals_share(const struct sigaction *wanted, struct sigaction *before);

/* Hold back one signal in this thread, or let it through; true when it was held back already. */
bool signals_block(int number);
void signals_let(int number);

#endif
