/* POSIX: pwrite and pread at explicit offsets. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "api.h"
#include "striping.h"

static void *posix_open(Target *target, Trouble *trouble)
{
    const Settings *s = target->settings;
    int flags = (target->writing ? O_CREAT | O_RDWR : O_RDONLY) | (s->direct ? O_DIRECT : 0);
    if (target->writing)
        striping_create(target, trouble);
    int fd = trouble->any ? -1 : open(target->path, flags, 0664);
    if (fd < 0 && !trouble->any)
        trouble_note(trouble, "cannot open %s: %s", target->path, strerror(errno));
    int *file = allocate(1, sizeof *file);
    *file = fd;
    return file;
}

static bool posix_transfer(void *file, const Target *target, char *buffer, int64_t bytes, int64_t offset,
                           Trouble *trouble)
{
    int fd = *(int *)file;
    int64_t done = 0;
    while (done < bytes) {
        ssize_t part = target->writing ? pwrite(fd, buffer + done, (size_t)(bytes - done), offset + done)
                                       : pread(fd, buffer + done, (size_t)(bytes - done), offset + done);
        if (part < 0 && errno == EINTR)
            continue;
        bool enough = part > 0 && (part == bytes - done || !target->settings->once);
        if (!enough) {
            trouble_note(trouble, "%s of %lld bytes at offset %lld of %s: %s",
                         target->writing ? "write" : "read", (long long)(bytes - done),
                         (long long)(offset + done), target->path,
                         part < 0    ? strerror(errno)
                         : part == 0 ? "the file ends there"
                                     : "only a part was transferred (-x)");
            return false;
        }
        done += part;
    }
    return true;
}

static void posix_sync(void *file, const Target *target, Trouble *trouble)
{
    if (fsync(*(int *)file) != 0)
        trouble_note(trouble, "cannot flush %s: %s", target->path, strerror(errno));
}

static void posix_close(void *file, const Target *target, Trouble *trouble)
{
    if (close(*(int *)file) != 0 && !trouble->any)
        trouble_note(trouble, "cannot close %s: %s", target->path, strerror(errno));
    free(file);
}

const Api API_POSIX = {"POSIX", false, posix_open, posix_transfer, posix_sync, posix_close, api_unlink};
