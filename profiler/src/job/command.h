/* The text of Darshan's job region: the command and the file systems. */
#ifndef IOLENS_COMMAND_H
#define IOLENS_COMMAND_H

#include <stddef.h>

enum {
    COMMAND_BYTES = 3016
}; /* Size of the text with its final NUL: Darshan reserves the rest of 4 KiB after the job record. */

/* Writes the command line and then, for each file system, a newline, its type, a tab and its mount point.
 * `mounts` is the text of /proc/self/mounts; `extra` has further file systems in the form
 * type:folder,type:folder. Returns the number of bytes with the final NUL. */
size_t command_text(char text[COMMAND_BYTES], const char *mounts, const char *extra);

#endif
