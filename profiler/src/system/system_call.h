/* System calls of the library's own. The C library's `syscall` is a wrapped function, and so are many other
 * functions that make system calls: the library's own calls must not be recorded as calls of the program. */
#ifndef IOLENS_SYSTEM_CALL_H
#define IOLENS_SYSTEM_CALL_H

#include <sys/syscall.h>

/* Makes the system call. Returns the same as syscall(2): -1, with errno set, if the kernel refuses. */
long system_call(long number, ...);

#endif
