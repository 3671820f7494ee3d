/* A library that answers the "lustre.lov" attribute of every file with the bytes of the file named by
 * LOV_BYTES. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>

ssize_t fgetxattr(int fd, const char *name, void *value, size_t size)
{
    static char bytes[65536];
    (void)fd;
    FILE *source = strcmp(name, "lustre.lov") == 0 ? fopen(getenv("LOV_BYTES"), "r") : NULL;
    if (!source) {
        errno = ENODATA;
        return -1;
    }
    size_t length = fread(bytes, 1, sizeof bytes, source);
    fclose(source);
    if (size == 0)
        return (ssize_t)length;
    if (size < length) {
        errno = ERANGE;
        return -1;
    }
    memcpy(value, bytes, length);
    return (ssize_t)length;
}
