/* The text of Darshan's job region: which command, which file systems. */
#ifndef IOLENS_COMMAND_H
#define IOLENS_COMMAND_H

#include <stddef.h>

#include "logfile.h"

/* From the text of /proc/self/mounts and from more rows of the form type:folder,type:folder: the command
 * line, then "\n" type "\t" mount point for each file system. Returns its bytes with the final NUL. */
size_t command_text(char text[LOG_TEXT_BYTES], const char *mounts, const char *extra);

#endif
