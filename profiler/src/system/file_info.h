/* Asks the kernel about a file directly, without calling stat(), which this library, the program or another
 * preloaded library may replace. */
#ifndef IOLENS_FILE_INFO_H
#define IOLENS_FILE_INFO_H

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "system_call.h"

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

#endif
