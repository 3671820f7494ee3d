/* System calls of the library's own. The C library's `syscall` is a wrapped function, and so are many of the
 * functions around system calls: what the library does for itself must not come back to it as a call of the
 * program. */
#ifndef IOLENS_SYSTEM_CALL_H
#define IOLENS_SYSTEM_CALL_H

#include <sys/syscall.h>

/* Makes the system call. Returns what syscall(2) returns: -1 with errno set where the kernel refuses. */
long system_call(long number, ...);

#endif
