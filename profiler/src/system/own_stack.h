/* Runs work that needs more stack than a signal handler may have. */
#ifndef IOLENS_OWN_STACK_H
#define IOLENS_OWN_STACK_H

#include <stdbool.h>

/* Calls `what` on a separate stack with signals blocked, because their handlers must run on the thread's
 * own stack; SIGXFSZ is blocked only where it can be raised (signals.h). Without memory, `what` is called
 * on the thread's stack. Costs some microseconds. */
void on_own_stack(void (*what)(void));

/* Calls the function on the thread's own stack if that is certainly large; else on other memory. Signals are
 * not blocked. Returns false, without a call, if there is no memory. */
bool on_enough_stack(void (*what)(void));

#endif
