/* Layouts: kept in MOUNT/.ost/layouts, one file `<inode>` of one line `stripe_count stripe_size start born`,
 * the same for directories (defaults; start -1 lets every file choose) and files (fixed from creation on).
 * `born` is the inode's time of birth in nanoseconds, which tells a removed file from one that got its inode
 * number; 0 where the file system does not record it. MOUNT/.ost/next holds the first target of the next file
 * that chooses. */
#ifndef OST_LAYOUT_H
#define OST_LAYOUT_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/stat.h>
#include <sys/types.h>

#include "model.h"

/* The layout of the file at `path` (absolute, below `mount`). A file without one takes the default of its
 * nearest ancestor and, if that names no first target, the next in turn; that is then written down. */
struct ost_layout layout_of_file(const char *mount, const char *path, const struct statx *info,
                                 const struct ost_params *params);

/* The default layout that a new file in the directory `path` would take. */
struct ost_layout layout_of_directory(const char *mount, const char *path, const struct ost_params *params);

/* The value of the `lustre.lov` attribute: struct lov_user_md_v1 with one object per stripe (none for a
 * directory). Returns its bytes; writes them when `room` is enough. */
size_t layout_encode(const struct ost_layout *layout, uint64_t inode, bool directory, int targets,
                     void *buffer, size_t room);

#endif
