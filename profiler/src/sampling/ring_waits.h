/* Goes on with waits for io_uring that a sampling signal has ended. A program that was linked with a static
 * liburing makes this system call itself, so that no wrapper holds the signal back. */
#ifndef IOLENS_RING_WAITS_H
#define IOLENS_RING_WAITS_H

/* Called at the end of the handler with the interrupted thread's registers. A wait for a length of time may
 * take one period of the timers longer. */
void ring_waits_continue(void *interrupted);

#endif
