#include "slurp.h"

#include <fcntl.h>
#include <unistd.h>

#include "system_call.h"

size_t slurp(const char *path, char *text, size_t size)
{
    size_t used = 0;
    int fd = (int)system_call(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC, 0);
    while (fd >= 0 && used < size - 1) {
        ssize_t got = system_call(SYS_read, fd, text + used, size - 1 - used);
        if (got <= 0)
            break;
        used += (size_t)got;
    }
    if (fd >= 0)
        system_call(SYS_close, fd);
    text[used] = '\0';
    return used;
}
