/* Files whose path leads to another file system than the one that held them: something was mounted over them
 * later, or what held them is gone, or lies in another mount namespace. */
#include <stdio.h>

#include "../files/registry.h"
#include "../runtime/context.h"
#include "../tables/process_table.h"

enum { MOUNT_BYTES = 256, TYPE_BYTES = 32 };

struct row {
    uint64_t file;
    int64_t rank;
    char mount[MOUNT_BYTES], type[TYPE_BYTES];
};

static const struct column COLUMNS[] = {
    COLUMN(file, "<u8", "record id", "the file, by its id in the name region"),
    COLUMN(rank, "<i8", "rank", "the rank that used the file"),
    TEXT(mount, "S256",
         "mount point of the file system that held the file; empty: no mount point that is known", TEXT_NAME),
    TEXT(type, "S32", "type of that file system", TEXT_WORD),
};

/* Returns true if a path lies on a file system of IOLENS_MOUNTS, of which the kernel knows nothing. */
static bool is_named_by_user(const char *path)
{
    for (const char *row = iolens.settings.mounts; row && *row;) {
        const char *folder = row + strcspn(row, ":,"), *end = row + strcspn(row, ",");
        size_t length = folder < end ? (size_t)(end - folder) - 1 : 0;
        if (length > 0 && strncmp(path, folder + 1, length) == 0 &&
            (path[length] == '/' || path[length] == '\0'))
            return true;
        row = end + (*end == ',');
    }
    return false;
}

static bool is_same_place(const struct mount *one, const struct mount *other)
{
    return one->folder.at && other->folder.at && one->folder.length == other->folder.length &&
           memcmp(one->folder.at, other->folder.at, one->folder.length) == 0 &&
           one->type.length == other->type.length &&
           memcmp(one->type.at, other->type.at, one->type.length) == 0;
}

static void put_row(struct buffer *rows, const struct file *file, int64_t rank, const struct mount *own)
{
    struct row *row = buffer_add(rows, sizeof *row);
    char folder[MOUNT_BYTES];
    if (!row)
        return;
    row->file = file->id;
    row->rank = rank;
    if (!own->folder.at)
        return;
    mount_folder(own, folder, sizeof folder);
    memcpy(row->mount, folder, strlen(folder));
    memcpy(row->type, own->type.at, own->type.length < TYPE_BYTES ? own->type.length : TYPE_BYTES - 1);
}

static void collect(const struct iolens_transport *transport, struct buffer *rows)
{
    const char *lines = iolens.identity.mounts;
    struct mount own, by_path;
    for (const struct file *file = iolens_registry.first; file && *lines; file = file->next)
        if (places_find(file, lines, &own, &by_path) && !is_same_place(&own, &by_path) &&
            !is_named_by_user(file->path))
            put_row(rows, file, transport->rank, &own);
}

const struct process_table table_file_mounts = {
    .name = "file_mounts",
    .meaning = "A file that lay on another file system than its path and the mounts of the region `job` say",
    TABLE_ROWS(COLUMNS),
    .merging.collect = collect,
};
