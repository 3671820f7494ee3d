/* Layouts: kept in MOUNT/.ost/layouts, one file `<inode>` of one line `stripe_count stripe_size start`, the
 * same for directories (defaults; start -1 lets every file choose) and files (fixed from creation on). */
#ifndef OST_LAYOUT_H
#define OST_LAYOUT_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "model.h"

/* The layout of the file `inode` at `path` (absolute, below `mount`). A file without one, or a `fresh` one
 * whose inode number may be a removed file's, takes the default of its nearest ancestor, which is then
 * written down. */
struct ost_layout layout_of_file(const char *mount, const char *path, uint64_t inode, bool fresh,
                                 const struct ost_params *params);

/* The default layout that a new file in the directory `path` would take. */
struct ost_layout layout_of_directory(const char *mount, const char *path, const struct ost_params *params);

/* The value of the `lustre.lov` attribute: struct lov_user_md_v1 with one object per stripe (none for a
 * directory). Returns its bytes; writes them when `room` is enough. */
size_t layout_encode(const struct ost_layout *layout, uint64_t inode, bool directory, int targets,
                     void *buffer, size_t room);

#endif
