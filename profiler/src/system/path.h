/* From the path a program names to the path a record is filed under. */
#ifndef IOLENS_PATH_H
#define IOLENS_PATH_H

#include <stdbool.h>
#include <stddef.h>

#include "path_room.h"

/* Write the absolute path of `path` (relative to `dirfd`, or AT_FDCWD) to `out`: double slashes and "."
 * squeezed.
 * ".." is resolved by the file system where the path exists, else by its spelling; symbolic links stay as the
 * program spelt them (names.h resolves them). False when there is no such path (too long, empty, unknown
 * folder). */
bool path_absolute(char out[PATH_BYTES], int dirfd, const char *path);

/* Write what the absolute path leads to, through all symbolic links, to `out`. False if it does not exist. In
 * place of realpath, which needs 3 KiB of stack. */
bool path_real(char out[PATH_BYTES], const char *absolute);

/* False for the system's own folders and for control files of MPI libraries; `include` is a colon-separated
 * list of prefixes that are recorded nevertheless. */
bool path_is_recorded(const char *absolute, const char *include);

#endif
