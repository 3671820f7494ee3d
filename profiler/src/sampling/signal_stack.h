/* The stack on which the handler of samples runs. The interrupted code may have no room: a goroutine, or a
 * coroutine made with makecontext, has a few KiB. */
#ifndef IOLENS_SAMPLING_SIGNAL_STACK_H
#define IOLENS_SAMPLING_SIGNAL_STACK_H

#include <signal.h>
#include <stdbool.h>

#include "signals.h"

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
