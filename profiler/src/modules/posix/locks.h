/* Counts locks that a program takes on files, by fcntl (POSIX and open file description locks), flock and
 * lockf. */
#ifndef IOLENS_LOCKS_H
#define IOLENS_LOCKS_H

#include "../../runtime/wrap.h"

/* Notes, if `waits`, that a call is about to wait for a lock, so that the log of a program that is killed
 * meanwhile shows the call. */
void locks_before(struct call *c, int fd, bool waits);

/* Returns true if the command, or the operation, waits for a lock that another process holds. */
bool locks_fcntl_waits(int command);
bool locks_flock_waits(int operation);
bool locks_lockf_waits(int command);

/* Counts a lock by fcntl, which returned `result`; `value` is its third argument. Commands that take no lock
 * are ignored. */
void locks_on_fcntl(const struct call *c, int result, int fd, int command, intptr_t value);

void locks_on_flock(const struct call *c, int result, int fd, int operation);
void locks_on_lockf(const struct call *c, int result, int fd, int command);

#endif
