#include "places.h"

#include <errno.h>
#include <string.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "../system/system_call.h"

/* The mount of a file whose kernel does not number mounts. */
#define NO_NUMBER (-1)

enum { MOST_MOUNTS = 128 };

/* Fields of the kernel's struct statx, which the headers of older systems do not have in full. */
struct answer {
    uint32_t mask, words[33];
    uint32_t major, minor;
    uint64_t mount;
    uint64_t spare[13];
};

_Static_assert(offsetof(struct answer, mount) == 0x90 && sizeof(struct answer) == 256,
               "struct answer must be laid out like struct statx");

static struct {
    int count;
    struct {
        int64_t number;
        uint64_t device;
    } mount[MOST_MOUNTS];
} used;

void places_note(struct file *file, int fd)
{
    enum { MOUNT_NUMBER = 0x1000, EMPTY_PATH = 0x1000 };
    struct answer answer = {0};
    if (fd < 0 || file->mount || file->path[0] != '/')
        return;
    int saved_errno = errno;
    if (system_call(SYS_statx, fd, "", EMPTY_PATH, MOUNT_NUMBER, &answer) == 0) {
        file->device = makedev(answer.major, answer.minor);
        file->mount = answer.mask & MOUNT_NUMBER && answer.mount ? (int64_t)answer.mount : NO_NUMBER;
    }
    errno = saved_errno;
}

static bool is_of(int64_t number, uint64_t device, const struct mount *mount)
{
    return number > 0 ? number == mount->number : device == mount->device;
}

void places_gather(void)
{
    used.count = 0;
    for (const struct file *file = iolens_registry.first; file; file = file->next) {
        int at = used.count;
        while (at > 0 &&
               (used.mount[at - 1].number != file->mount || used.mount[at - 1].device != file->device))
            at--;
        if (!file->mount || at > 0 || used.count == MOST_MOUNTS)
            continue;
        used.mount[used.count].number = file->mount;
        used.mount[used.count++].device = file->device;
    }
}

bool places_is_used(const struct mount *mount)
{
    for (int i = 0; i < used.count; i++)
        if (is_of(used.mount[i].number, used.mount[i].device, mount))
            return true;
    return false;
}

/* The last of several mounts that fit equally well hides the others. */
bool places_find(const struct file *file, const char *lines, struct mount *own, struct mount *by_path)
{
    size_t own_depth = 0, path_depth = 0, depth;
    struct mount mount;
    *own = *by_path = (struct mount){0};
    if (!file->mount)
        return false;
    while ((lines = mounts_next(lines, &mount))) {
        bool holds = mount_holds(&mount, file->path, &depth), numbered = file->mount > 0;
        if (is_of(file->mount, file->device, &mount) && (numbered || (holds && depth >= own_depth))) {
            own_depth = depth;
            *own = mount;
        }
        if (holds && depth >= path_depth) {
            path_depth = depth;
            *by_path = mount;
        }
    }
    return file->mount > 0 || own->folder.at;
}
