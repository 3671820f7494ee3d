#include "names.h"

#include <stdio.h>
#include <stdlib.h>

#include "../runtime/context.h"
#include "../system/hash.h"
#include "../system/large_room.h"
#include "../system/system_call.h"
#include "registry.h"

struct names iolens_names LARGE_ROOM;

static uint64_t id_of(const char *path) { return record_id(path, strlen(path)); }

/* Returns the alias of a path, or NULL. The lock must be held. */
static struct alias *find_locked(uint64_t id)
{
    struct names *names = &iolens_names;
    struct alias *alias = names->buckets ? names->buckets[id % ALIAS_BUCKETS] : NULL;
    while (alias && alias->id != id)
        alias = alias->next;
    return alias;
}

static struct alias find(uint64_t id)
{
    spin_lock(&iolens_names.lock);
    const struct alias *found = find_locked(id);
    struct alias alias = found ? *found : (struct alias){0};
    spin_unlock(&iolens_names.lock);
    return alias;
}

/* Remembers to which file a path leads. If allocation fails, the path is resolved again at the next call. */
static void remember(uint64_t id, struct file *file, const struct stat *info)
{
    struct names *names = &iolens_names;
    spin_lock(&names->lock);
    struct alias *alias = find_locked(id);
    if (!names->buckets)
        names->buckets = pages_alloc(ALIAS_BUCKETS * sizeof *names->buckets);
    if (!alias && names->buckets && (alias = arena_alloc(&iolens.scratch, sizeof *alias))) {
        alias->id = id;
        alias->next = names->buckets[id % ALIAS_BUCKETS];
        names->buckets[id % ALIAS_BUCKETS] = alias;
    }
    if (alias) {
        alias->file = file;
        alias->device = info ? info->st_dev : 0;
        alias->inode = info ? info->st_ino : 0;
    }
    spin_unlock(&names->lock);
}

/* Returns true if the folder whose path is the first `length` characters of `path` is reached through no
 * symbolic link. */
static bool is_plain_folder(char *path, size_t length)
{
    uint64_t id = record_id(path, length);
    _Atomic uint64_t *known = &iolens_names.plain[id % PLAIN_FOLDERS];
    if (length == 0 || *known == id)
        return true;
    char *real = path_room_take();
    path[length] = '\0';
    bool plain = real && path_real(real, path) && strcmp(real, path) == 0;
    path[length] = '/';
    path_room_give(real);
    if (plain)
        *known = id;
    return plain;
}

/* Returns true if a path is no symbolic link, and leads through none. */
static bool is_plain(char *absolute, enum names_end end)
{
    char target[1];
    return is_plain_folder(absolute, (size_t)(strrchr(absolute, '/') - absolute)) &&
           (end != NAMES_TARGET || readlink(absolute, target, sizeof target) < 0);
}

/* Returns true if a symbolic link may have taken the place of a file or folder that the program used by this
 * path before. */
static bool is_replaced(char *absolute, enum names_end end)
{
    return iolens_names.relinked && !is_plain(absolute, end);
}

void names_expect_links(void)
{
    for (int i = 0; i < PLAIN_FOLDERS; i++)
        iolens_names.plain[i] = 0;
    iolens_names.relinked = true;
}

void names_moved_to(const char *absolute)
{
    char target[1];
    if (readlink(absolute, target, sizeof target) >= 0)
        names_expect_links();
}

bool names_of_fd(char real[PATH_BYTES], int fd)
{
    static const char GONE[] = " (deleted)";
    char link[64];
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t length = readlink(link, real, PATH_BYTES - 1);
    if (length <= 0 || real[0] != '/')
        return false;
    real[length] = '\0';
    size_t tail = sizeof GONE - 1;
    return (size_t)length < tail || strcmp(real + length - tail, GONE) != 0;
}

static bool name_of_path(char real[PATH_BYTES], char *absolute, enum names_end end)
{
    char *base = strrchr(absolute, '/');
    if (end == NAMES_TARGET && path_real(real, absolute))
        return true;
    *base = '\0';
    bool found = path_real(real, base > absolute ? absolute : "/");
    *base = '/';
    size_t used = found && real[1] ? strlen(real) : 0;
    return found && snprintf(real + used, PATH_BYTES - used, "%s", base) < (int)(PATH_BYTES - used);
}

struct file *names_left(char *absolute)
{
    struct file *file = registry_find(id_of(absolute));
    if (file ? !is_replaced(absolute, NAMES_FRESH) : is_plain(absolute, NAMES_FRESH))
        return file;
    char *real = path_room_take();
    if (real && name_of_path(real, absolute, NAMES_FRESH))
        file = registry_find(id_of(real));
    path_room_give(real);
    return file;
}

static struct file *as(const char *real, const char *absolute, uint64_t id, const struct stat *info)
{
    if (strcmp(real, absolute) == 0)
        return registry_file(absolute);
    struct file *file = registry_file_for(real, absolute);
    if (file)
        remember(id, file, info);
    return file;
}

static struct file *resolve_fd(const char *absolute, uint64_t id, int fd, const struct stat *info)
{
    char *real = path_room_take();
    bool found = real && names_of_fd(real, fd);
    struct file *file = found ? as(real, absolute, id, info) : registry_file(absolute);
    path_room_give(real);
    return file;
}

static struct file *resolve_path(char *absolute, uint64_t id, enum names_end end)
{
    char *real = path_room_take();
    bool found = real && name_of_path(real, absolute, end);
    struct file *file = found ? as(real, absolute, id, NULL) : registry_file(absolute);
    path_room_give(real);
    return file;
}

struct file *names_open(char *absolute, int fd)
{
    struct stat info = {0};
    uint64_t id = id_of(absolute);
    struct file *file = registry_find(id);
    if (file && !is_replaced(absolute, NAMES_TARGET))
        return file;
    struct alias alias = find(id);
    if (!alias.file && is_plain(absolute, NAMES_TARGET))
        return registry_file(absolute);
    bool same = file_info_fd(fd, &info) == 0 && info.st_ino == alias.inode && info.st_dev == alias.device;
    return alias.file && same ? alias.file : resolve_fd(absolute, id, fd, &info);
}

struct file *names_file(char *absolute, enum names_end end)
{
    uint64_t id = id_of(absolute);
    struct file *file = registry_find(id);
    if (file && is_replaced(absolute, end))
        file = NULL;
    if (!file && end != NAMES_FRESH)
        file = find(id).file;
    if (file)
        return file;
    return is_plain(absolute, end) ? registry_file(absolute) : resolve_path(absolute, id, end);
}

void names_resolve(char path[PATH_BYTES])
{
    const struct file *file = names_file(path, NAMES_TARGET);
    if (file)
        snprintf(path, PATH_BYTES, "%s", file->path);
}

/* Forgets all links; the list of folders without links stays valid. */
void names_reset(void)
{
    iolens_names.lock = (struct spin){ATOMIC_FLAG_INIT};
    iolens_names.buckets = NULL;
}
