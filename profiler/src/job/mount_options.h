/* How the file systems of a node are mounted, as a JSON object: mount point to {"type", "options"}. */
#ifndef IOLENS_MOUNT_OPTIONS_H
#define IOLENS_MOUNT_OPTIONS_H

#include <stddef.h>

#include "../memory/buffer.h"

/* From the text of /proc/self/mounts. Left out: what holds no files, options that look like a secret or a
 * name of a person, and what would make it longer than `limit` bytes. */
void mount_options(struct buffer *out, const char *table, size_t limit);

#endif
