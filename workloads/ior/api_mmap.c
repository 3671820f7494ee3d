/* MMAP: the file mapped into memory; a transfer is a copy. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "api.h"

typedef struct Mapping {
    int fd;
    char *memory;
    size_t bytes;
} Mapping;

static void *mmap_open(Target *target, Trouble *trouble)
{
    const Settings *s = target->settings;
    Mapping *map = allocate(1, sizeof *map);
    struct stat now;
    map->bytes = (size_t)(s->segments * s->block * target->sharers);
    map->fd = open(target->path, target->writing ? O_CREAT | O_RDWR : O_RDONLY, 0664);
    if (map->fd < 0 || fstat(map->fd, &now) != 0) {
        trouble_note(trouble, "cannot open %s: %s", target->path, strerror(errno));
        return map;
    }
    /* Space is reserved first, because on a full disk the first store to a page without space would end the
     * program. */
    int failed = target->writing ? posix_fallocate(map->fd, 0, (off_t)map->bytes) : 0;
    if (failed != 0)
        trouble_note(trouble, "cannot reserve %zu bytes for %s: %s", map->bytes, target->path,
                     strerror(failed));
    else if (!target->writing && (size_t)now.st_size < map->bytes)
        trouble_note(trouble, "%s has %lld bytes, %zu are to be read", target->path, (long long)now.st_size,
                     map->bytes);
    if (trouble->any)
        return map;
    int rights = target->writing ? PROT_READ | PROT_WRITE : PROT_READ;
    map->memory = mmap(NULL, map->bytes, rights, MAP_SHARED, map->fd, 0);
    if (map->memory == MAP_FAILED) {
        map->memory = NULL;
        trouble_note(trouble, "cannot map %s: %s", target->path, strerror(errno));
    }
    return map;
}

static bool mmap_transfer(void *file, const Target *target, char *buffer, int64_t bytes, int64_t offset,
                          Trouble *trouble)
{
    Mapping *map = file;
    (void)trouble;
    if (target->writing)
        memcpy(map->memory + offset, buffer, (size_t)bytes);
    else
        memcpy(buffer, map->memory + offset, (size_t)bytes);
    return true;
}

static void mmap_sync(void *file, const Target *target, Trouble *trouble)
{
    Mapping *map = file;
    if (msync(map->memory, map->bytes, MS_SYNC) != 0)
        trouble_note(trouble, "cannot flush %s: %s", target->path, strerror(errno));
}

static void mmap_close(void *file, const Target *target, Trouble *trouble)
{
    Mapping *map = file;
    if (map->memory != NULL && munmap(map->memory, map->bytes) != 0)
        trouble_note(trouble, "cannot unmap %s: %s", target->path, strerror(errno));
    if (map->fd >= 0)
        close(map->fd);
    free(map);
}

const Api API_MMAP = {"MMAP", false, mmap_open, mmap_transfer, mmap_sync, mmap_close, api_unlink};
