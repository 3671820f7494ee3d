#include "sys.h"

#include <limits.h>
#include <stdio.h>

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
