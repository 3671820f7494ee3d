/* The text of Darshan's job region: the command and the file systems. */
#ifndef IOLENS_COMMAND_H
#define IOLENS_COMMAND_H

#include <stdbool.h>
#include <stddef.h>

#include "mounts.h"

/* The name and the command line of the program and the name of its user, as they were when the program began:
 * it may write a title over its arguments and its environment, as Perl's $0 and many servers do. */

/* Bytes of texts with their final NUL. A command and the mounts have what Darshan's 4 KiB leave behind the
 * job record. */
enum { USER_BYTES = 64, PROGRAM_BYTES = 256, COMMAND_BYTES = 3016 };

/* Cuts a command line to `bytes` bytes, of which the last ones are the mark "<TRUNCATED>". Does nothing to a
 * shorter one. */
void command_cut(char *command, size_t bytes);

/* Reads them when the library starts. Children of fork keep their parent's. */
void command_line_read(void);

/* Returns the program's name without its folder. */
const char *program_name(void);

/* Returns LOGNAME or USER; "" if neither can be a name. */
const char *user_name(void);

/* Returns the command line on one line, its words separated by spaces; a longer one ends with a mark. */
const char *command_line(void);

/* Writes the command line and then, for each file system, a newline, its type, a tab and its mount point:
 * first those for which `is_seen` returns true, then others while there is room. A command that leaves too
 * little room for the former is cut. `mounts` has the kept mounts (mounts.h); `extra` has further file
 * systems in the form type:folder,type:folder. Returns the number of bytes with the final NUL. */
size_t command_text(char text[COMMAND_BYTES], const char *command, const char *mounts, const char *extra,
                    mount_filter *is_seen);

#endif
