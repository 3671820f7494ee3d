/* The mounts on which the files of the process lie: see place.h. */
#ifndef IOLENS_PLACES_H
#define IOLENS_PLACES_H

#include "../job/mounts.h"
#include "registry.h"

/* Collects the mounts of all files, for places_is_used. */
void places_gather(void);

/* Returns true if a file lies in this mount; a mount_filter. */
bool places_is_used(const struct mount *mount);

/* Finds the mount of a file among lines (mounts.h), and the mount that a reader takes who knows only the
 * path. Both are NULL in `folder.at` if there is none. Returns false if the kernel told nothing about the
 * file. */
bool places_find(const struct file *file, const char *lines, struct mount *own, struct mount *by_path);

#endif
