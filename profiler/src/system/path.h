/* Converts the path that a program names into the path of its record. */
#ifndef IOLENS_PATH_H
#define IOLENS_PATH_H

#include <stdbool.h>
#include <stddef.h>

#include "path_room.h"

/* Writes the absolute path of `path` (relative to `dirfd`, or AT_FDCWD) to `out`, without double slashes and
 * parts that are ".". Parts that are ".." are resolved by the file system if the path exists, else by the
 * path's spelling. Symbolic links stay as the program wrote them; names.h resolves them. Returns false if
 * there is no such path (too long, empty, unknown folder). */
bool path_absolute(char out[PATH_BYTES], int dirfd, const char *path);

/* Writes to `out` the path of the file to which `absolute` leads through all symbolic links. Returns false if
 * there is no such file. Used instead of realpath, which needs 3 KiB of stack. */
bool path_real(char out[PATH_BYTES], const char *absolute);

/* Returns false for the system's own folders and for control files of MPI libraries; `include` is a
 * colon-separated list of prefixes that are recorded nevertheless. */
bool path_is_recorded(const char *absolute, const char *include);

#endif
