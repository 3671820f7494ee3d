#include "say.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "path.h"
#include "system_call.h"
#include "utf8.h"

static struct stat stderr_at_start;

void say_start(void) { file_info_fd(STDERR_FILENO, &stderr_at_start); }

/* Replaces control characters, which a terminal would obey, by question marks. Names of files and programs
 * may contain any character, and messages to root may contain names that other users chose. */
static void disarm(char *text)
{
    unsigned char *at = (unsigned char *)text;
    while (*at) {
        int length = utf8_length(at), bytes = length > 0 ? length : 1;
        if (length == 0 || utf8_is_obeyed(utf8_letter(at, length)))
            memset(at, '?', (size_t)bytes);
        at += bytes;
    }
}

void iolens_say(const char *format, ...)
{
    char text[2 * PATH_BYTES + 512];
    struct stat now;
    int used = snprintf(text, sizeof text, "iolens: ");
    va_list list;
    va_start(list, format);
    int length = vsnprintf(text + used, sizeof text - (size_t)used - 1, format, list);
    va_end(list);
    const struct stat *then = &stderr_at_start;
    if (length < 0 || file_info_fd(STDERR_FILENO, &now) != 0 || now.st_ino != then->st_ino ||
        now.st_dev != then->st_dev)
        return;
    disarm(text);
    size_t bytes = strlen(text);
    text[bytes++] = '\n';
    system_call(SYS_write, STDERR_FILENO, text, bytes);
}
