/* Work that needs more stack than a signal handler may have. */
#ifndef IOLENS_OWN_STACK_H
#define IOLENS_OWN_STACK_H

/* Call `what` on a stack made for it, with signals held back, whose handlers belong on the thread's own; but
 * for SIGXFSZ, which is held back where it can come (signals.h). Without memory it is called where the thread
 * is. Costs some microseconds. */
void on_own_stack(void (*what)(void));

#endif
