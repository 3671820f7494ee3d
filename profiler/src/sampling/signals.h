/* The signal of the timers, which the program may also use for its own purposes. */
#ifndef IOLENS_SAMPLING_SIGNALS_H
#define IOLENS_SAMPLING_SIGNALS_H

#include <signal.h>
#include <stdbool.h>

typedef void signal_handler(int number, siginfo_t *info, void *context);

/* Installs the handler for a real-time signal that nobody handles; returns the number of the signal, or 0. */
int signals_take(signal_handler *handler);

/* Passes a signal that did not come from a timer on to the program's own action. */
void signals_forward(int number, siginfo_t *info, void *context);

/* Returns true if a signal with a handler of the program will be delivered when the handler of the timers'
 * signal returns, to the thread with these registers. */
bool signals_await_handler(const void *interrupted);

/* Called at the end of the handler, when the kernel is about to repeat an interrupted system call. Ends that
 * call with EINTR if a pending signal of the program would have ended it, because its handler has no
 * SA_RESTART (signal(7)). */
void signals_interrupt(void *context);

/* Does the work of `sigaction` for a signal that sampling uses. */
int signals_share(const struct sigaction *wanted, struct sigaction *before);

/* Block one signal in this thread, and let it through again. The first function returns true if the signal
 * was blocked before. */
bool signals_block(int number);
void signals_let(int number);

#endif
