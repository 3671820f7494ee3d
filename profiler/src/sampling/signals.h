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

/* The stack on which the handler of samples runs. The interrupted code may have no room: a goroutine, or a
 * coroutine made with makecontext, has a few KiB. */

/* Gives the calling thread a stack for the handler, and has the kernel deliver signals on it (SA_ONSTACK)
 * unless the program set an alternate stack for this thread. */
void signal_stack_begin(void);

/* Removes the stack. The program's own alternate stack stays. */
void signal_stack_end(void);

/* Calls the handler on the stack that signal_stack_begin made; the stack that the kernel chose then only
 * needs room for the kernel's own frame. */
void signal_stack_call(signal_handler *handler, int number, siginfo_t *info, void *context);

/* Does the work of sigaltstack for the program, without showing it the profiler's signal stack. */
int signal_stack_share(const stack_t *wanted, stack_t *before);

/* Returns true if an alternate stack of the program is too small for the kernel to deliver a signal on it. */
bool signal_stack_is_too_small(const stack_t *stack);

#endif
