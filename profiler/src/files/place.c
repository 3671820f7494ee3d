#include "place.h"

#include <errno.h>
#include <stddef.h>
#include <sys/sysmacros.h>

#include "../system/system_call.h"

/* Fields of the kernel's struct statx, which the headers of older systems do not have in full. */
struct answer {
    uint32_t mask, words[33];
    uint32_t major, minor;
    uint64_t mount;
    uint64_t spare[13];
};

_Static_assert(offsetof(struct answer, mount) == 0x90 && sizeof(struct answer) == 256,
               "struct answer must be laid out like struct statx");

void place_ask(struct place *place, int fd)
{
    enum { MOUNT_NUMBER = 0x1000, EMPTY_PATH = 0x1000 };
    struct answer answer = {0};
    int saved_errno = errno;
    if (system_call(SYS_statx, fd, "", EMPTY_PATH, MOUNT_NUMBER, &answer) == 0) {
        place->device = makedev(answer.major, answer.minor);
        place->mount = answer.mask & MOUNT_NUMBER && answer.mount ? (int64_t)answer.mount : -1;
    }
    errno = saved_errno;
}
