/* The mount options of a node's file systems as a JSON object: mount point to {"type", "options"}. */
#ifndef IOLENS_MOUNT_OPTIONS_H
#define IOLENS_MOUNT_OPTIONS_H

#include <stddef.h>
#include <stdint.h>

#include "../memory/buffer.h"

/* A row of the mount table; longer words are cut. */
struct mount {
    char folder[256], type[256], options[512];
};

/* Returns a checksum of the kernel's numbers of all mounts, which are never reused; 0 if the kernel does not
 * tell them (Linux before 6.8), or if there are too many. The checksum does not show that a mount's options
 * changed. Computing it takes a hundredth of the time of reading /proc/self/mounts. */
uint64_t mount_ids(void);

/* Reads the next whole row of the text of /proc/self/mounts. Returns the place behind it, or NULL if there is
 * no further one. */
const char *mount_next(const char *table, struct mount *mount);

/* Converts the text of /proc/self/mounts. Left out are mounts that hold no files, options that look like a
 * secret or a person's name, and everything beyond `limit` bytes. */
void mount_options(struct buffer *out, const char *table, size_t limit);

#endif
