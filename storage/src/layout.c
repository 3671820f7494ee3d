#include "layout.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>

#include "sys.h"

#define LOV_RAID0     1u
#define LOV_ANY       0xffffu
#define LOV_SIZE_UNIT 65536u
#define ANY_TARGET    (-1)
#define OBJECT_GROUP  0

static void layout_path(char *out, size_t room, const char *mount, uint64_t inode)
{
    snprintf(out, room, "%s/.ost/layouts/%" PRIu64, mount, inode);
}

static int64_t born(const struct statx *info)
{
    if (!(info->stx_mask & STATX_BTIME))
        return 0;
    return info->stx_btime.tv_sec * INT64_C(1000000000) + info->stx_btime.tv_nsec;
}

static bool load(const char *mount, const struct statx *info, const struct ost_params *params,
                 struct ost_layout *layout)
{
    char path[PATH_MAX], text[96];
    int count, start;
    int64_t size, birth;
    layout_path(path, sizeof path, mount, info->stx_ino);
    if (sys_slurp(path, text, sizeof text) <= 0 ||
        sscanf(text, "%d %" SCNd64 " %d %" SCNd64, &count, &size, &start, &birth) != 4)
        return false;
    if (birth != born(info) || count < 1 || count > params->targets || size < 1 || start < ANY_TARGET ||
        start >= params->targets)
        return false;
    *layout = (struct ost_layout){.stripe_size = size, .stripe_count = count, .start = start};
    return true;
}

static void save(const char *mount, const struct statx *info, const struct ost_layout *layout)
{
    char path[PATH_MAX], text[96];
    layout_path(path, sizeof path, mount, info->stx_ino);
    int length = snprintf(text, sizeof text, "%d %" PRId64 " %d %" PRId64 "\n", layout->stripe_count,
                          layout->stripe_size, layout->start, born(info));
    sys_replace(path, text, (size_t)length);
}

struct ost_layout layout_of_directory(const char *mount, const char *path, const struct ost_params *params)
{
    struct ost_layout layout = {params->stripe_size, params->stripe_count, ANY_TARGET};
    char here[PATH_MAX];
    size_t top = strlen(mount);
    snprintf(here, sizeof here, "%s", path);
    while (strlen(here) >= top) {
        struct statx info;
        char *slash = strrchr(here, '/');
        if (sys_statx(AT_FDCWD, here, &info) == 0 && load(mount, &info, params, &layout))
            break;
        if (!slash || slash == here)
            break;
        *slash = '\0';
    }
    return layout;
}

/* Returns the first target of a new file. Targets are taken in turn, so that the next file starts after this
 * file's stripes. */
static int choose_target(int counter, const struct ost_layout *layout, int targets)
{
    char text[32] = "0";
    if (counter < 0)
        return 0;
    sys_pread(counter, text, sizeof text - 1);
    long turn = strtol(text, NULL, 10);
    int start = turn > 0 ? (int)(turn % targets) : 0;
    int length = snprintf(text, sizeof text, "%-8d\n", (start + layout->stripe_count) % targets);
    sys_pwrite(counter, text, (size_t)length);
    return start;
}

/* Opens and locks the file that holds the first target of the next file. While the lock is held, no other
 * process gives layouts to files. Closing the file releases the lock. */
static int lock_turns(const char *mount)
{
    char place[PATH_MAX];
    snprintf(place, sizeof place, "%s/.ost/next", mount);
    int counter = sys_open(place, O_RDWR | O_CREAT, 0644);
    flock(counter, LOCK_EX);
    return counter;
}

struct ost_layout layout_of_file(const char *mount, const char *path, const struct statx *info,
                                 const struct ost_params *params)
{
    struct ost_layout layout;
    char place[PATH_MAX];
    if (load(mount, info, params, &layout) && layout.start != ANY_TARGET)
        return layout;
    int counter = lock_turns(mount);
    if (!load(mount, info, params, &layout) || layout.start == ANY_TARGET) {
        snprintf(place, sizeof place, "%s", path);
        char *slash = strrchr(place, '/');
        if (slash)
            *slash = '\0';
        layout = layout_of_directory(mount, place, params);
        if (layout.start == ANY_TARGET)
            layout.start = choose_target(counter, &layout, params->targets);
        save(mount, info, &layout);
    }
    sys_close(counter);
    return layout;
}

struct ost_layout layout_set(const char *mount, const struct statx *info, const struct ost_layout *layout,
                             const struct ost_params *params)
{
    struct ost_layout set = *layout;
    int counter = lock_turns(mount);
    if (set.start == ANY_TARGET && !S_ISDIR(info->stx_mode))
        set.start = choose_target(counter, &set, params->targets);
    save(mount, info, &set);
    sys_close(counter);
    return set;
}

bool layout_decode(const struct lov_header *wanted, const struct ost_params *params,
                   struct ost_layout *layout)
{
    if (wanted->magic != LOV_MAGIC_V1 || (wanted->pattern && wanted->pattern != LOV_RAID0) ||
        wanted->stripe_size % LOV_SIZE_UNIT != 0 ||
        (wanted->stripe_offset != LOV_ANY && wanted->stripe_offset >= params->targets))
        return false;
    int count = wanted->stripe_count ? wanted->stripe_count : params->stripe_count;
    *layout = (struct ost_layout){
        .stripe_size = wanted->stripe_size ? wanted->stripe_size : params->stripe_size,
        .stripe_count = count < params->targets ? count : params->targets,
        .start = wanted->stripe_offset == LOV_ANY ? ANY_TARGET : wanted->stripe_offset,
    };
    return true;
}

size_t layout_encode(const struct ost_layout *layout, uint64_t inode, bool directory, int targets,
                     void *buffer, size_t room)
{
    size_t objects = directory ? 0 : (size_t)layout->stripe_count;
    size_t bytes = sizeof(struct lov_header) + objects * sizeof(struct lov_object);
    if (room < bytes)
        return bytes;
    struct lov_header header = {
        .magic = LOV_MAGIC_V1,
        .pattern = LOV_RAID0,
        .object_id = inode,
        .object_seq = OBJECT_GROUP,
        .stripe_size = (uint32_t)layout->stripe_size,
        .stripe_count = (uint16_t)layout->stripe_count,
        .stripe_offset = directory ? (uint16_t)layout->start
                                   : 0, /* For a file, this field holds the layout generation, which is 0. */
    };
    memcpy(buffer, &header, sizeof header);
    for (size_t i = 0; i < objects; i++) {
        struct lov_object object = {.id = inode, .target = (uint32_t)((layout->start + (int)i) % targets)};
        memcpy((char *)buffer + sizeof header + i * sizeof object, &object, sizeof object);
    }
    return bytes;
}
