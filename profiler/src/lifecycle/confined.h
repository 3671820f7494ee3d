/* A program may give up rights that recording needs. Afterwards reading the time stamp counter raises
 * SIGSEGV, or a forbidden system call kills the process. The recorder sees this before it happens, but only
 * in calls through the C library. A filter that existed before the program began (a container's) does not
 * matter here. */
#ifndef IOLENS_CONFINED_H
#define IOLENS_CONFINED_H

/* Prepares for a prctl of the program with these arguments, which may forbid system calls or the counter of
 * time. Must be called before it. */
void confined_prctl(long option, long first, long second);

/* Prepares for a system call seccomp of the program with these arguments, which may forbid system calls. Must
 * be called before it. */
void confined_seccomp(long operation, long filter);

#endif
