/* Ends recording before the process ends. */
#ifndef IOLENS_LIFECYCLE_H
#define IOLENS_LIFECYCLE_H

/* Writes the log of a process outside an MPI job at once and stops recording. The sentence `why` goes into
 * the log. Does nothing if the process does not record. */
void lifecycle_end(const char *why);

/* A program may give up rights that recording needs. Afterwards reading the time stamp counter raises
 * SIGSEGV, or a forbidden system call kills the process. The recorder sees this before it happens, but only
 * in calls through the C library. A filter that existed before the program began (a container's) does not
 * matter here. */

/* Must be called before the program's prctl with these arguments, which may forbid system calls or reading
 * the time stamp counter; prepares for that. */
void confined_prctl(long option, long first, long second);

/* Must be called before the program's system call seccomp with these arguments, which may forbid system
 * calls; prepares for that. */
void confined_seccomp(long operation, long filter);

#endif
