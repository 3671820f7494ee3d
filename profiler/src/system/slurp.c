#include "slurp.h"

#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

size_t slurp(const char *path, char *text, size_t size)
{
    size_t used = 0;
    int fd = (int)syscall(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC, 0);
    while (fd >= 0 && used < size - 1) {
        ssize_t got = syscall(SYS_read, fd, text + used, size - 1 - used);
        if (got <= 0)
            break;
        used += (size_t)got;
    }
    if (fd >= 0)
        syscall(SYS_close, fd);
    text[used] = '\0';
    return used;
}
