/* Finds the file behind the path that a program used.
 *
 * Symbolic links are resolved once for each new path, so that all spellings of a path, on all ranks, share a
 * record. Hard links are separate names. A known path costs nothing until the program makes a symbolic link.
 * A path through a link costs an fstat per open, because the link may have changed: device and inode tell
 * whether it still leads to the same file. */
#ifndef IOLENS_NAMES_H
#define IOLENS_NAMES_H

#include <stdint.h>
#include <sys/types.h>

#include "../system/path.h"
#include "../system/spin.h"

struct file;

/* A path that leads through a symbolic link. */
struct alias {
    uint64_t id; /* Record id of the path. */
    struct file *file;
    dev_t device;
    ino_t inode; /* Inode of the file; 0 if the file was never opened by this path. */
    struct alias *next;
};

enum { ALIAS_BUCKETS = 4096, PLAIN_FOLDERS = 4096 };

struct names {
    struct spin lock;
    struct alias **buckets; /* ALIAS_BUCKETS lists of paths with links; allocated with the first one. */
    _Atomic uint64_t
        /* Ids of folders whose paths contain no links, placed by the lowest bits of the id. */
        plain[PLAIN_FOLDERS];
    _Atomic bool relinked; /* The program has made a symbolic link. */
};

extern struct names iolens_names;

/* The file to which a path leads when no descriptor of it is open: the link itself, the link's target, or a
 * file that was just created. */
enum names_end { NAMES_LINK, NAMES_TARGET, NAMES_FRESH };

/* Returns the file that was opened as `fd` by this absolute path; NULL if the file is excluded or memory is
 * short. The function changes the path while it runs and restores it. */
struct file *names_open(char *absolute, int fd);

/* Returns the file of a path that was used without opening a file; the path may no longer exist. */
struct file *names_file(char *absolute, enum names_end end);

/* Returns the file that was just removed from this path, if the program had used that file before; else NULL.
 * Symbolic links are not files. */
struct file *names_left(char *absolute);

/* Writes the kernel's name of an open file; returns false if the kernel has none, as for an unlinked file. */
bool names_of_fd(char real[PATH_BYTES], int fd);

/* Has paths of known files resolved again, because the program made a symbolic link, which may take the place
 * of a file or folder. */
void names_expect_links(void);

/* Does the same if a rename has just put a symbolic link at this path. */
void names_moved_to(const char *absolute);

/* Forgets which file each path leads to. */
void names_reset(void);

/* Replaces the path by the name of its record, if a record exists. */
void names_resolve(char path[PATH_BYTES]);

#endif
