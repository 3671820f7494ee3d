/* Follows the rings of io_uring through read-only mappings of its own and with positions of its own: the
 * program's positions are never written. It looks before and after each call of the program on a ring. A
 * completion stays readable after the program took it, until the ring has been filled once more; so
 * nothing is lost while a ring has room for all completions between two such calls, and lost completions
 * are counted (ring_counts.def). */
#ifndef IOLENS_RINGS_H
#define IOLENS_RINGS_H

#include "ring.h"

extern atomic_bool iolens_rings_used;

/* Returns false if the program has made no ring; then no place of a ring is touched, and the functions below
 * that end a ring need not be called. */
static inline bool rings_used(void) { return atomic_load_explicit(&iolens_rings_used, memory_order_relaxed); }

/* Follows a ring that io_uring_setup made, or that liburing has prepared. Counts a ring that cannot be
 * followed. */
void rings_follow(int fd, const struct ring_params *params);
void rings_follow_library(const struct liburing *library);

/* Reads the completions of the ring `fd` for the last time, and unmaps it, so that the ring ends when the
 * program closes it. Does nothing for other descriptors. */
void rings_leave(int fd);
void rings_leave_range(unsigned first, unsigned last);

/* Stops following the ring whose descriptor `copy` has just become a copy of `fd`. If `fd` is a ring, the
 * copy is not followed, but counted. */
void rings_on_dup(int copy, int fd);

/* Note the requests of a ring: the first is called before a call that may submit up to `submitted` requests,
 * the second after that call. */
void rings_before(int fd, uint32_t submitted);
void rings_after(int fd);

/* Does the work of rings_before for a function of liburing; `flushes`: the function submits the requests
 * that the program has prepared. */
void rings_before_library(const struct liburing *library, bool flushes);

/* Notes what a successful io_uring_register changed in a ring. */
void rings_on_register(int fd, unsigned operation, const void *argument, unsigned count);

/* Looks for completions in all rings for the last time. */
void rings_end(void);

/* Forgets all rings in a child of fork, which has none of the mappings. */
void rings_reset(void);

#endif
