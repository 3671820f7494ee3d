#include "registry.h"

enum { MOST_MOUNTS = 128 };

static struct {
    int count;
    struct {
        int64_t number;
        uint64_t device;
    } mount[MOST_MOUNTS];
} used;

static bool is_of(int64_t number, uint64_t device, const struct mount *mount)
{
    return number > 0 ? number == mount->number : device == mount->device;
}

void places_gather(void)
{
    used.count = 0;
    for (const struct file *file = iolens_registry.first; file; file = file->next) {
        int at = used.count;
        while (at > 0 && (used.mount[at - 1].number != file->place.mount ||
                          used.mount[at - 1].device != file->place.device))
            at--;
        if (!file->place.mount || at > 0 || used.count == MOST_MOUNTS)
            continue;
        used.mount[used.count].number = file->place.mount;
        used.mount[used.count++].device = file->place.device;
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
    if (!file->place.mount)
        return false;
    while ((lines = mounts_next(lines, &mount))) {
        bool holds = mount_holds(&mount, file->path, &depth), numbered = file->place.mount > 0;
        if (is_of(file->place.mount, file->place.device, &mount) &&
            (numbered || (holds && depth >= own_depth))) {
            own_depth = depth;
            *own = mount;
        }
        if (holds && depth >= path_depth) {
            path_depth = depth;
            *by_path = mount;
        }
    }
    return file->place.mount > 0 || own->folder.at;
}
