/* Another tool in the preload chain: it wraps open, write and close as the profiler does, and at the end
 * prints its counts for files that were opened by a relative name, to the descriptor that TOOL_FD names. */
#include <dlfcn.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static int opens, writes, closes;
static char mine[1024];

static void *next(const char *name) { return dlsym(RTLD_NEXT, name); }

int open(const char *path, int flags, ...)
{
    static int (*real)(const char *, int, ...);
    va_list list;
    va_start(list, flags);
    int mode = flags & O_CREAT ? va_arg(list, int) : 0;
    va_end(list);
    real = real ? real : next("open");
    int fd = real(path, flags, mode);
    if (fd >= 0 && fd < (int)sizeof mine && *path != '/') {
        mine[fd] = 1;
        opens++;
    }
    return fd;
}

ssize_t write(int fd, const void *data, size_t bytes)
{
    static ssize_t (*real)(int, const void *, size_t);
    real = real ? real : next("write");
    writes += fd >= 0 && fd < (int)sizeof mine && mine[fd];
    return real(fd, data, bytes);
}

int close(int fd)
{
    static int (*real)(int);
    real = real ? real : next("close");
    if (fd >= 0 && fd < (int)sizeof mine && mine[fd]) {
        mine[fd] = 0;
        closes++;
    }
    return real(fd);
}

__attribute__((destructor)) static void tell(void)
{
    const char *where = getenv("TOOL_FD");
    if (where)
        dprintf(atoi(where), "%d opens %d writes %d closes\n", opens, writes, closes);
}
