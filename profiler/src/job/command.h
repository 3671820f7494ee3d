/* The text of Darshan's job region: which command, which file systems. */
#ifndef IOLENS_COMMAND_H
#define IOLENS_COMMAND_H

#include <stddef.h>

enum { COMMAND_BYTES = 3016 }; /* with its NUL; Darshan gives it the rest of 4 KiB behind the job record */

/* From the text of /proc/self/mounts and from more rows of the form type:folder,type:folder: the command
 * line, then "\n" type "\t" mount point for each file system. Returns its bytes with the final NUL. */
size_t command_text(char text[COMMAND_BYTES], const char *mounts, const char *extra);

#endif
