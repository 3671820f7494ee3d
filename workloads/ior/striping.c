#include "striping.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

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

void striping_create(const Target *target, Trouble *trouble)
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
