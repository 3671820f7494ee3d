#include "../../files/fds.h"
#include "../../memory/arena.h"
#include "../../system/system_call.h"
#include "ring.h"

struct ring_file ring_files_find(struct ring *ring, uint32_t slot, int64_t bytes)
{
    struct ring_file found = {0};
    spin_lock(&ring->lock);
    if (slot < ring->files.count) {
        found = ring->files.slots[slot];
        ring->files.slots[slot].offset += bytes;
    }
    spin_unlock(&ring->lock);
    return found;
}

void ring_files_put(struct ring *ring, uint32_t slot, struct ring_file file)
{
    spin_lock(&ring->lock);
    if (slot < ring->files.count)
        ring->files.slots[slot] = file;
    spin_unlock(&ring->lock);
}

/* Returns the file of a descriptor and the offset of its next transfer. A file in append mode is written at
 * its end, whatever position the recorder has. */
static struct ring_file file_of(int fd)
{
    struct stat info;
    struct open_file *open = fds_find(fd);
    struct ring_file file = {.file = open ? fds_file(open) : NULL};
    if (!file.file)
        return file;
    file.appends = open->append;
    file.offset = file.appends && file_info_fd(fd, &info) == 0 ? info.st_size : open->offset;
    return file;
}

void ring_files_set(struct ring *ring, uint32_t first, const int *fds, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        if (fds[i] >= -1)
            ring_files_put(ring, first + i, file_of(fds[i]));
}

void ring_files_resize(struct ring *ring, uint32_t count)
{
    struct ring_files files = {.slots = count ? pages_alloc(count * sizeof *files.slots) : NULL}, before;
    files.count = files.slots ? count : 0;
    spin_lock(&ring->lock);
    before = ring->files;
    ring->files = files;
    spin_unlock(&ring->lock);
    if (before.slots)
        pages_free(before.slots, before.count * sizeof *before.slots);
}
