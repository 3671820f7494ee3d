#include "ceph_layouts.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/xattr.h>

#include "../../ranks/reduce.h"
#include "../../system/system_call.h"
#include "../../tables/process_table.h"

enum { TEXT_BYTES = 512, POOL_BYTES = 64 };

/* File systems that may be CephFS: the kernel's client, and programs such as ceph-fuse. */
static const uint64_t MAGIC_CEPH = 0x00C36400, MAGIC_FUSE = 0x65735546;

struct layout {
    int64_t stripe_count, stripe_unit, object_size;
    char pool[POOL_BYTES];
};

/* Returns the value behind `key` in a text such as "stripe_unit=65536 stripe_count=2"; NULL without one. */
static const char *value_of(const char *text, const char *key)
{
    const char *at = strstr(text, key);
    return at ? at + strlen(key) : NULL;
}

static int64_t number_of(const char *text, const char *key)
{
    const char *value = value_of(text, key);
    return value ? strtoll(value, NULL, 10) : 0;
}

static struct layout parse(const char *text)
{
    struct layout layout = {number_of(text, "stripe_count="), number_of(text, "stripe_unit="),
                            number_of(text, "object_size="), ""};
    const char *pool = value_of(text, "pool=");
    if (pool)
        snprintf(layout.pool, sizeof layout.pool, "%.*s", (int)strcspn(pool, " "), pool);
    return layout;
}

/* Reads a file's layout as a text. If a file system does not support the attribute, its device is remembered
 * and it is not asked again, because a FUSE program needs about 5 us for each request. Only one device is
 * remembered. */
static ssize_t read_layout(const struct file *file, int fd, char *text, size_t room)
{
    static const char NAME[] = "ceph.file.layout";
    static _Atomic uint64_t without;
    struct stat info;
    if ((fd >= 0 ? file_info_fd(fd, &info) : file_info(file->path, &info)) != 0 ||
        info.st_dev == atomic_load_explicit(&without, memory_order_relaxed))
        return -1;
    ssize_t length = fd >= 0 ? fgetxattr(fd, NAME, text, room) : getxattr(file->path, NAME, text, room);
    if (length < 0 && errno == EOPNOTSUPP)
        atomic_store_explicit(&without, info.st_dev, memory_order_relaxed);
    return length;
}

void ceph_layouts_note(struct file *file, int fd, uint64_t type)
{
    char text[TEXT_BYTES] = "";
    if (type != MAGIC_CEPH && type != MAGIC_FUSE)
        return;
    ssize_t length = read_layout(file, fd, text, sizeof text - 1);
    struct layout found = parse(length > 0 ? text : "");
    struct layout *kept = found.stripe_count > 0 ? table_file_state(TABLE_ceph_layouts, file) : NULL;
    if (kept)
        *kept = found;
}

struct row {
    uint64_t file;
    int64_t stripe_count, stripe_unit, object_size;
    char pool[POOL_BYTES];
};

static const struct column COLUMNS[] = {
    COLUMN(file, "<u8", "record id", "the file, by its id in the name region"),
    COLUMN(stripe_count, "<i8", "objects", "number of objects that the file's stripes go to in turn"),
    COLUMN(stripe_unit, "<i8", "B", "size of a stripe"),
    COLUMN(object_size, "<i8", "B", "size at which an object is full"),
    TEXT(pool, "S64", "the pool that holds the objects", TEXT_NAME),
};

static void collect(const struct iolens_transport *transport, struct buffer *rows)
{
    for (struct file *file = iolens_registry.first; file; file = file->next) {
        const struct layout *layout = table_file_state_known(TABLE_ceph_layouts, file);
        struct row *row = layout && (transport->rank == 0 || !shared_by_all(file, MODULE_POSIX))
                              ? buffer_add(rows, sizeof *row)
                              : NULL;
        if (!row)
            continue;
        row->file = file->id;
        row->stripe_count = layout->stripe_count;
        row->stripe_unit = layout->stripe_unit;
        row->object_size = layout->object_size;
        memcpy(row->pool, layout->pool, sizeof row->pool);
    }
}

const struct process_table table_ceph_layouts = {
    .name = "ceph_layouts",
    .meaning = "The layout of a file on CephFS, from rank 0 or from each rank that used a file which not all "
               "ranks used. Ceph does not tell a program which targets hold the objects",
    TABLE_ROWS(COLUMNS),
    .recording.file_bytes = sizeof(struct layout),
    .merging.collect = collect,
};
