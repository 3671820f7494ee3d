/* The shim's own system calls, made directly, so that no other preloaded library sees or counts them. */
#ifndef OST_SYS_H
#define OST_SYS_H

#include <fcntl.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Makes a system call by the C library's syscall. That name may belong to a preloaded library, which would
 * count the call as the program's. */
long sys_call(long number, ...);

static inline int sys_open(const char *path, int flags, mode_t mode)
{
    return (int)sys_call(SYS_openat, AT_FDCWD, path, flags | O_CLOEXEC, mode);
}

static inline void sys_close(int fd) { sys_call(SYS_close, fd); }

static inline ssize_t sys_read(int fd, void *buffer, size_t bytes)
{
    return sys_call(SYS_read, fd, buffer, bytes);
}

static inline ssize_t sys_write(int fd, const void *buffer, size_t bytes)
{
    return sys_call(SYS_write, fd, buffer, bytes);
}

/* Reads from the beginning of a file, wherever its position is. */
static inline ssize_t sys_pread(int fd, void *buffer, size_t bytes)
{
    return sys_call(SYS_pread64, fd, buffer, bytes, (off_t)0);
}

static inline ssize_t sys_pwrite(int fd, const void *buffer, size_t bytes)
{
    return sys_call(SYS_pwrite64, fd, buffer, bytes, (off_t)0);
}

static inline int sys_rename(const char *from, const char *to)
{
    return (int)sys_call(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, 0);
}

static inline off_t sys_seek(int fd, off_t offset, int whence)
{
    return sys_call(SYS_lseek, fd, offset, whence);
}

/* Returns the flags with which the descriptor was opened. */
static inline int sys_flags(int fd) { return (int)sys_call(SYS_fcntl, fd, F_GETFL); }

/* Reads size, inode, type and time of birth; `path` NULL asks about the descriptor. Returns 0 or -1. */
static inline int sys_statx(int fd, const char *path, struct statx *out)
{
    int flags = path ? 0 : AT_EMPTY_PATH;
    return (int)sys_call(SYS_statx, fd, path ? path : "", flags, STATX_BASIC_STATS | STATX_BTIME, out);
}

/* Reads a whole small file as a string; returns its length, or -1. */
ssize_t sys_slurp(const char *path, char *buffer, size_t room);

/* Replaces a file by `text`, which is written under another name and renamed. Returns 0 or -1. */
int sys_replace(const char *path, const char *text, size_t bytes);

#endif
