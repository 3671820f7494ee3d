/* POSIX: pwrite and pread at explicit offsets. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "api.h"

/* Creates a file with its own stripe layout. */

/* Constants of Lustre's interface for setting stripes, as its header lustre_user.h defines them. */
enum { LOV_MAGIC_V3 = 0x0BD30BD0, PATTERN_RAID0 = 1, POOL_NAME = 16 };
#define SET_STRIPE   _IOW('f', 154, long)
#define DELAY_CREATE (O_NOCTTY | FASYNC)

typedef struct LovUserMd {
    uint32_t magic, pattern;
    uint64_t object[2];
    uint32_t stripe_size;
    uint16_t stripe_count, first_target;
    char pool[POOL_NAME];
} LovUserMd;

static void create_striped(const Target *target, Trouble *trouble)
{
    const Settings *s = target->settings;
    LovUserMd layout = {
        .magic = LOV_MAGIC_V3,
        .pattern = PATTERN_RAID0,
        .stripe_size = (uint32_t)s->stripe_size,
        .stripe_count = (uint16_t)s->stripe_count,
        .first_target = (uint16_t)s->start_target,
    };
    if (s->pool != NULL)
        memcpy(layout.pool, s->pool, strnlen(s->pool, POOL_NAME - 1));
    int fd = open(target->path, O_CREAT | O_EXCL | O_RDWR | DELAY_CREATE, 0664);
    if (fd < 0) {
        trouble_note(trouble, "cannot create %s: %s", target->path, strerror(errno));
        return;
    }
    if (ioctl(fd, SET_STRIPE, &layout) != 0) {
        trouble_note(trouble,
                     "cannot stripe %s: %s; ior sets stripes only on Lustre; on emulated storage, set "
                     "them with `iolens stripe set DIR`",
                     target->path, strerror(errno));
        unlink(target->path);
    }
    close(fd);
}

/* Creates the file on its first task with the stripe layout in the settings, by Lustre's ioctl; does nothing
 * if the settings have no layout. Collective over the file's tasks. */
static void striping_create(const Target *target, Trouble *trouble)
{
    const Settings *s = target->settings;
    int rank;
    if (s->stripe_count == 0 && s->stripe_size == 0 && s->start_target < 0 && s->pool == NULL)
        return;
    MPI_Comm_rank(target->comm, &rank);
    if (rank == 0)
        create_striped(target, trouble);
    trouble_shared(trouble, target->comm);
}

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
