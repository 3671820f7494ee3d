#include "sys.h"

#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>

typedef long system_call(long number, ...);

long sys_call(long number, ...)
{
    static _Atomic(system_call *) known;
    system_call *real = known;
    long value[6];
    va_list list;
    if (!real) {
        *(void **)&real = dlsym(RTLD_NEXT, "syscall");
        known = real;
    }
    if (!real) {
        errno = ENOSYS;
        return -1;
    }
    va_start(list, number);
    for (int i = 0; i < 6; i++)
        value[i] = va_arg(list, long);
    va_end(list);
    return real(number, value[0], value[1], value[2], value[3], value[4], value[5]);
}

ssize_t sys_slurp(const char *path, char *buffer, size_t room)
{
    int fd = sys_open(path, O_RDONLY, 0);
    if (fd < 0)
        return -1;
    size_t length = 0;
    ssize_t got;
    while (length + 1 < room && (got = sys_read(fd, buffer + length, room - 1 - length)) > 0)
        length += (size_t)got;
    sys_close(fd);
    buffer[length] = '\0';
    return (ssize_t)length;
}

int sys_replace(const char *path, const char *text, size_t bytes)
{
    char aside[PATH_MAX];
    snprintf(aside, sizeof aside, "%s.%d", path, (int)getpid());
    int fd = sys_open(aside, O_WRONLY | O_CREAT | O_TRUNC, 0644);
    if (fd < 0)
        return -1;
    ssize_t put = sys_write(fd, text, bytes);
    sys_close(fd);
    return put == (ssize_t)bytes ? sys_rename(aside, path) : -1;
}
