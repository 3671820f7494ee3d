/* Recognizes paths that another user could have redirected. */
#ifndef IOLENS_UNTRUSTED_PATH_H
#define IOLENS_UNTRUSTED_PATH_H

#include <stdbool.h>

/* Returns true if a folder on the absolute path is a symbolic link in a world-writable folder with the sticky
 * bit (such as /tmp), and the link belongs neither to this user nor to that folder's owner. Linux refuses to
 * follow such links if fs.protected_symlinks is set. */
bool path_is_untrusted(const char *path);

#endif
