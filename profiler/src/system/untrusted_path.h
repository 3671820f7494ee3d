/* Paths that somebody else could have laid out. */
#ifndef IOLENS_UNTRUSTED_PATH_H
#define IOLENS_UNTRUSTED_PATH_H

#include <stdbool.h>

/* True when a folder on the absolute path is a symbolic link in a folder open to all with the sticky bit (as
 * /tmp), of neither this user nor the owner of that folder: what Linux refuses under fs.protected_symlinks.
 */
bool path_is_untrusted(const char *path);

#endif
