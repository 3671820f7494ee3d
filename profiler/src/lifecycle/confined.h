/* A program may take from itself what recording needs: the time stamp counter, whose reading then raises
 * SIGSEGV, and system calls, which then kill it. Both are noticed before they happen, and only in calls
 * through the C library. A filter that was there before the program began (a container's) is none of these.
 */
#ifndef IOLENS_CONFINED_H
#define IOLENS_CONFINED_H

/* Must be called before the program's prctl with these arguments. */
void confined_prctl(long option, long first, long second);

/* Must be called before the program's system call seccomp with these arguments. */
void confined_seccomp(long operation, long filter);

#endif
