/* Layouts: kept in MOUNT/.ost/layouts, one file `<inode>` of one line `stripe_count stripe_size start born`,
 * the same for directories (defaults; start -1 lets every file choose) and files (fixed from creation on).
 * `born` is the inode's time of birth in nanoseconds, which distinguishes a removed file from a later one
 * with the same inode number; 0 if the file system does not record it. MOUNT/.ost/next holds the first target
 * of the next file that chooses. */
#ifndef OST_LAYOUT_H
#define OST_LAYOUT_H

#include <stddef.h>
#include <sys/stat.h>
#include <sys/types.h>

#include "model.h"

#define LOV_MAGIC_V1 0x0BD10BD0u

/* A struct lov_user_md_v1 followed by a struct lov_user_ost_data_v1 for each stripe, from Lustre's
 * lustre_user.h. */
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

_Static_assert(sizeof(struct lov_header) == 32 && sizeof(struct lov_object) == 24,
               "the structures must have the sizes of Lustre's lov_user_md_v1");

enum { LOV_MOST_BYTES = sizeof(struct lov_header) + OST_MAX_TARGETS * sizeof(struct lov_object) };

/* Returns the layout of the file at `path` (absolute, below `mount`). A file without a layout takes the
 * default of its nearest ancestor and, if that names no first target, the next target in turn; the layout
 * is then stored. */
struct ost_layout layout_of_file(const char *mount, const char *path, const struct statx *info,
                                 const struct ost_params *params);

/* Returns the default layout that a new file in the directory `path` would take. */
struct ost_layout layout_of_directory(const char *mount, const char *path, const struct ost_params *params);

/* Stores a layout for an empty file, or for future files of a directory. If the layout leaves the first
 * target open, a file takes the next target in turn. Returns the stored layout. */
struct ost_layout layout_set(const char *mount, const struct statx *info, const struct ost_layout *layout,
                             const struct ost_params *params);

/* Decodes a request: 0 stripes or bytes mean the default, 65535 stripes all targets, 65535 as first target
 * any; more stripes than targets mean all. Returns false for a request that Lustre refuses too: a stripe
 * size that is no multiple of 64 KiB, a target that does not exist, another structure or pattern. */
bool layout_decode(const struct lov_header *wanted, const struct ost_params *params,
                   struct ost_layout *layout);

/* Encodes the value of the `lustre.lov` attribute: struct lov_user_md_v1 with one object per stripe (none
 * for a directory). Returns its size; writes it if `room` is sufficient. */
size_t layout_encode(const struct ost_layout *layout, uint64_t inode, bool directory, int targets,
                     void *buffer, size_t room);

#endif
