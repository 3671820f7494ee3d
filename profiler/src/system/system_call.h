/* System calls of the library's own. The C library's `syscall` is a wrapped function, and so are many other
 * functions that make system calls: the library's own calls must not be recorded as calls of the program. */
#ifndef IOLENS_SYSTEM_CALL_H
#define IOLENS_SYSTEM_CALL_H

#include <fcntl.h>
#include <stddef.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Makes the system call. Returns the same as syscall(2): -1, with errno set, if the kernel refuses. */
long system_call(long number, ...);

/* Reads the first size - 1 bytes of the file into `text`, which ends with a NUL. Returns their number; 0 if
   the file cannot be read. */
size_t slurp(const char *path, char *text, size_t size);

/* Asks the kernel about a file directly, without calling stat(), which this library, the program or another
 * preloaded library may replace. */

static inline int file_info_at(int folder, const char *path, struct stat *info, int flags)
{
    return (int)system_call(SYS_newfstatat, folder, path, info, flags);
}

static inline int file_info(const char *path, struct stat *info)
{
    return file_info_at(AT_FDCWD, path, info, 0);
}

static inline int file_info_fd(int fd, struct stat *info) { return (int)system_call(SYS_fstat, fd, info); }

/* Returns the user who would own a file that the process creates now. */
static inline uid_t file_owner_now(void) { return (uid_t)system_call(SYS_geteuid); }

/* Writes what gethostname(2) gives, NUL-terminated and cut to `bytes`. gethostname itself is a traced
 * function. */
void host_name(char *name, size_t bytes);

#endif
