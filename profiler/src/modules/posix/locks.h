/* Counts locks that a program takes on files, by fcntl (POSIX and open file description locks), flock and
 * lockf. */
#ifndef IOLENS_LOCKS_H
#define IOLENS_LOCKS_H

#include <stdint.h>

#include "../../runtime/wrap.h"

/* Counts a lock by fcntl, which returned `result`; `value` is its third argument. Commands that take no lock
 * are ignored. */
void locks_on_fcntl(const struct call *c, int result, int fd, int command, intptr_t value);

void locks_on_flock(const struct call *c, int result, int fd, int operation);
void locks_on_lockf(const struct call *c, int result, int fd, int command);

#endif
