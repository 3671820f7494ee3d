/* Converts the path that a program names into the path of its record. */
#ifndef IOLENS_PATH_H
#define IOLENS_PATH_H

#include <stdbool.h>
#include <stddef.h>

/* Memory for a path that is not on the stack: a signal handler may have only 8 KiB of stack, of which the
 * kernel takes up to half. */

enum { PATH_BYTES = 4096 };

/* Returns PATH_BYTES of memory that is not zeroed; NULL without memory. Takes no lock, because a thread
 * may end while it uses the memory. */
char *path_room_take(void);

/* Gives the memory back; NULL is accepted. */
void path_room_give(char *room);

/* Writes the absolute path of `path` (relative to `dirfd`, or AT_FDCWD) to `out`, without double slashes and
 * parts that are ".". Parts that are ".." are resolved by the file system if the path exists, else by the
 * path's spelling. Symbolic links stay as the program wrote them; names.h resolves them. Returns false if
 * there is no such path (too long, empty, unknown folder). */
bool path_absolute(char out[PATH_BYTES], int dirfd, const char *path);

/* Writes to `out` the path of the file to which `absolute` leads through all symbolic links. Returns false if
 * there is no such file. Used instead of realpath, which needs 3 KiB of stack. */
bool path_real(char out[PATH_BYTES], const char *absolute);

/* Returns false for the system's own folders and for control files of MPI libraries; `include` is a
 * colon-separated list of prefixes that are recorded nevertheless. */
bool path_is_recorded(const char *absolute, const char *include);

/* Longest component in bytes. A log's name has several of them and numbers, and a file system allows 255
 * bytes for all. */
enum { COMPONENT_BYTES = 96 };

/* Writes `text` as a part of a file name: '/', characters that a terminal obeys and bytes that are not UTF-8
 * become '_', and so does a name that is empty or begins with '.', at that place. A longer name is cut
 * between two characters. `path_component` in report/iolens/foreign.py does the same. */
void path_component(char out[COMPONENT_BYTES], const char *text);

/* Returns true if a folder on the absolute path is a symbolic link in a world-writable folder with the sticky
 * bit (such as /tmp), and the link belongs neither to this user nor to that folder's owner. Linux refuses to
 * follow such links if fs.protected_symlinks is set. */
bool path_is_untrusted(const char *path);

/* Returns true if the text begins with a scheme, as in "http://". */
bool is_web_address(const char *text);

/* Copies an address to `place`, which has `bytes` bytes (at least 64), and fills the rest with zeros. User,
 * password and everything behind the path are left out, because they may hold a key to the data. An address
 * that is too long ends in a hash of all of it. */
void web_address_without_secrets(char *place, size_t bytes, const char *address);

#endif
