/* From the path that a program used to the one file behind it: symbolic links resolved, once for each new
 * path, so that all spellings of a path, on all ranks, share a record. Hard links are names of their own.
 *
 * A path that is known costs nothing here; one that leads through a link costs an fstat per open, since the
 * link may have been changed: device and inode tell whether it still leads to the same file. */
#ifndef IOLENS_NAMES_H
#define IOLENS_NAMES_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "../system/path.h"
#include "../system/spin.h"

struct file;

/* A path that leads through a symbolic link. */
struct alias {
    uint64_t id; /* of the path */
    struct file *file;
    dev_t device;
    ino_t inode; /* 0: not known, it was not opened by this path */
    struct alias *next;
};

enum { ALIAS_BUCKETS = 4096, PLAIN_FOLDERS = 4096 };

struct names {
    struct spin lock;
    struct alias **buckets; /* ALIAS_BUCKETS of them, made with the first alias */
    _Atomic uint64_t
        plain[PLAIN_FOLDERS]; /* ids of folders whose paths have no links, by their lowest bits */
};

extern struct names iolens_names;

/* The meaning of a path that is not open: the link itself, the link's target, or a file that was just
 * created, whatever link had this path before. */
enum names_end { NAMES_LINK, NAMES_TARGET, NAMES_FRESH };

/* The file that `fd` was opened as by this absolute path; NULL when it is excluded or memory is short. The
 * path is changed during the call, and restored. */
struct file *names_open(char *absolute, int fd);

/* The same of a path that was used without opening it, and may be gone by now. */
struct file *names_file(char *absolute, enum names_end end);

/* The file that had this path until a moment ago, if it was used before, by any path; else NULL. A link is no
 * file. */
struct file *names_left(char *absolute);

/* The kernel's own name of an open file; false where it has none, as behind an unlink. */
bool names_of_fd(char real[PATH_BYTES], int fd);

/* Forget which files paths stand for. */
void names_reset(void);

/* In place: the name of the path's record, when it has one. */
void names_resolve(char path[PATH_BYTES]);

#endif
