#include "context.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

struct context iolens;
__thread bool iolens_busy;
__thread int *iolens_errno;

bool iolens_is_this_process(void) { return iolens.pid == (pid_t)syscall(SYS_getpid); }

void iolens_say(const char *format, ...)
{
    char text[2 * PATH_BYTES + 512];
    struct stat now;
    int used = snprintf(text, sizeof text, "iolens: ");
    va_list list;
    va_start(list, format);
    int length = vsnprintf(text + used, sizeof text - (size_t)used - 1, format, list);
    va_end(list);
    const struct stat *then = &iolens.stderr_at_start;
    if (length < 0 || fstat(STDERR_FILENO, &now) != 0 || now.st_ino != then->st_ino ||
        now.st_dev != then->st_dev)
        return;
    size_t bytes = strlen(text);
    text[bytes++] = '\n';
    syscall(SYS_write, STDERR_FILENO, text, bytes);
}
