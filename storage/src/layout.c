#include "layout.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "sys.h"

#define LOV_MAGIC_V1 0x0BD10BD0u
#define LOV_RAID0    1u
#define ANY_TARGET   (-1)
#define OBJECT_GROUP 0

struct lov_header {
    uint32_t magic, pattern;
    uint64_t object_id, object_seq;
    uint32_t stripe_size;
    uint16_t stripe_count, stripe_offset;
};

struct lov_object {
    uint64_t id, seq;
    uint32_t generation, target;
};

_Static_assert(sizeof(struct lov_header) == 32 && sizeof(struct lov_object) == 24, "lov_user_md_v1");

static void layout_path(char *out, size_t room, const char *mount, uint64_t inode)
{
    snprintf(out, room, "%s/.ost/layouts/%" PRIu64, mount, inode);
}

static bool load(const char *mount, uint64_t inode, const struct ost_params *params,
                 struct ost_layout *layout)
{
    char path[PATH_MAX], text[64];
    int count, start;
    int64_t size;
    layout_path(path, sizeof path, mount, inode);
    if (sys_slurp(path, text, sizeof text) <= 0 ||
        sscanf(text, "%d %" SCNd64 " %d", &count, &size, &start) != 3)
        return false;
    if (count < 1 || count > params->targets || size < 1 || start < ANY_TARGET || start >= params->targets)
        return false;
    *layout = (struct ost_layout){.stripe_size = size, .stripe_count = count, .start = start};
    return true;
}

static void save(const char *mount, uint64_t inode, const struct ost_layout *layout)
{
    char path[PATH_MAX], text[64];
    layout_path(path, sizeof path, mount, inode);
    int length = snprintf(text, sizeof text, "%d %" PRId64 " %d\n", layout->stripe_count, layout->stripe_size,
                          layout->start);
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
        if (sys_statx(AT_FDCWD, here, &info) == 0 && load(mount, info.stx_ino, params, &layout))
            break;
        if (!slash || slash == here)
            break;
        *slash = '\0';
    }
    return layout;
}

/* FNV-1a: the same path starts on the same target in every run, whichever rank creates the file. */
static int target_of_path(const char *path, int targets)
{
    uint64_t hash = 0xcbf29ce484222325u;
    for (; *path; path++)
        hash = (hash ^ (unsigned char)*path) * 0x100000001b3u;
    return (int)((hash >> 32) % (uint64_t)targets);
}

struct ost_layout layout_of_file(const char *mount, const char *path, uint64_t inode, bool fresh,
                                 const struct ost_params *params)
{
    struct ost_layout layout;
    if (!fresh && load(mount, inode, params, &layout) && layout.start != ANY_TARGET)
        return layout;
    char folder[PATH_MAX];
    snprintf(folder, sizeof folder, "%s", path);
    char *slash = strrchr(folder, '/');
    if (slash)
        *slash = '\0';
    layout = layout_of_directory(mount, folder, params);
    if (layout.start == ANY_TARGET)
        layout.start = target_of_path(path + strlen(mount), params->targets);
    save(mount, inode, &layout);
    return layout;
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
        .stripe_offset = directory ? (uint16_t)layout->start : 0, /* a layout generation for files */
    };
    memcpy(buffer, &header, sizeof header);
    for (size_t i = 0; i < objects; i++) {
        struct lov_object object = {.id = inode, .target = (uint32_t)((layout->start + (int)i) % targets)};
        memcpy((char *)buffer + sizeof header + i * sizeof object, &object, sizeof object);
    }
    return bytes;
}
