/* Flips one bit of a file while it is read, as a faulty disk would: preloaded, for tests of what verifies
 * data.
 *
 * DAMAGED_FILE is the end of the file's path, DAMAGED_BYTE the offset of the byte, DAMAGED_BIT the mask. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int is_damaged(int file)
{
    char link[64], path[PATH_MAX];
    const char *end = getenv("DAMAGED_FILE");
    snprintf(link, sizeof link, "/proc/self/fd/%d", file);
    ssize_t length = readlink(link, path, sizeof path - 1);
    if (end == NULL || length < (ssize_t)strlen(end))
        return 0;
    path[length] = '\0';
    return strcmp(path + length - strlen(end), end) == 0;
}

static void damage(int file, void *buffer, ssize_t count, off_t offset)
{
    if (count <= 0 || !is_damaged(file))
        return;
    off_t byte = atoll(getenv("DAMAGED_BYTE"));
    if (byte >= offset && byte < offset + count)
        ((unsigned char *)buffer)[byte - offset] ^= (unsigned char)atoi(getenv("DAMAGED_BIT"));
}

ssize_t read(int file, void *buffer, size_t size)
{
    ssize_t (*real)(int, void *, size_t) = (ssize_t(*)(int, void *, size_t))dlsym(RTLD_NEXT, "read");
    off_t offset = lseek(file, 0, SEEK_CUR);
    ssize_t count = real(file, buffer, size);
    damage(file, buffer, count, offset);
    return count;
}

ssize_t pread(int file, void *buffer, size_t size, off_t offset)
{
    ssize_t (*real)(int, void *, size_t, off_t) =
        (ssize_t(*)(int, void *, size_t, off_t))dlsym(RTLD_NEXT, "pread");
    ssize_t count = real(file, buffer, size, offset);
    damage(file, buffer, count, offset);
    return count;
}

ssize_t pread64(int file, void *buffer, size_t size, off_t offset)
{
    return pread(file, buffer, size, offset);
}
