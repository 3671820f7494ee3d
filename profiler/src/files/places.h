/* The file system of each file, as the kernel told it when the file was first open: by the number of the
 * mount, or by the device before Linux 5.8. A path alone does not tell: a file system may be mounted over the
 * file later, or in another mount namespace. */
#ifndef IOLENS_PLACES_H
#define IOLENS_PLACES_H

#include "../job/mounts.h"
#include "registry.h"

/* Asks the kernel about a file by its descriptor, once. Does nothing if `fd` is negative. */
void places_note(struct file *file, int fd);

/* Collects the mounts of all files, for places_is_used. */
void places_gather(void);

/* Returns true if a file lies in this mount; a mount_filter. */
bool places_is_used(const struct mount *mount);

/* Finds the mount of a file among lines (mounts.h), and the mount that a reader takes who knows only the
 * path. Both are NULL in `folder.at` if there is none. Returns false if the kernel told nothing about the
 * file. */
bool places_find(const struct file *file, const char *lines, struct mount *own, struct mount *by_path);

#endif
