/* The text of Darshan's job region: the command and the file systems. */
#ifndef IOLENS_COMMAND_H
#define IOLENS_COMMAND_H

#include <stdbool.h>
#include <stddef.h>

#include "command_line.h"
#include "mounts.h"

/* Writes the command line and then, for each file system, a newline, its type, a tab and its mount point:
 * first those for which `is_seen` returns true, then others while there is room. A command that leaves too
 * little room for the former is cut. `mounts` has the kept mounts (mounts.h); `extra` has further file
 * systems in the form type:folder,type:folder. Returns the number of bytes with the final NUL. */
size_t command_text(char text[COMMAND_BYTES], const char *command, const char *mounts, const char *extra,
                    mount_filter *is_seen);

#endif
