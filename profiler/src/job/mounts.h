/* The file systems that the process sees: one line of text each, from /proc/self/mountinfo, in the form
 *   NUMBER MAJOR:MINOR TYPE FOLDER OPTIONS
 * where NUMBER is the kernel's number of the mount. As in the kernel's table, a blank in a folder is written
 * as an octal escape (\040). */
#ifndef IOLENS_MOUNTS_H
#define IOLENS_MOUNTS_H

#include <stdint.h>

#include "../memory/buffer.h"

struct mount_word {
    const char *at;
    size_t length;
};

struct mount {
    int64_t number;
    uint64_t device; /* Number of the device as in st_dev. */
    struct mount_word type, folder, options;
};

typedef bool mount_filter(const struct mount *mount);

/* Returns a checksum of the kernel's numbers of all mounts, which are never reused; 0 if the kernel does not
 * tell them (Linux before 6.8), or if there are too many. The checksum does not show that a mount's options
 * changed. Computing it takes a hundredth of the time of reading the table. */
uint64_t mount_ids(void);

/* Appends the text of /proc/self/mountinfo and a NUL; it may have hundreds of rows of any length. */
void mounts_read(struct buffer *table);

/* Writes a line for each row of the table whose file system can hold files, without options that look like a
 * secret or a person's name. If `room` is too small for all, file systems for which `is_first` returns true
 * come first, then those that usually hold data. Returns true if all lines have room. */
bool mounts_keep(const char *table, mount_filter *is_first, char *lines, size_t room);

/* Reads the next line. Returns the place behind it, or NULL if there is no further one. */
const char *mounts_next(const char *lines, struct mount *mount);

/* Writes the mount point without escapes; returns false if it is too long. */
bool mount_folder(const struct mount *mount, char *folder, size_t size);

/* Returns true if a path is that of the mount point or below it; `depth` receives the length of the mount
 * point. */
bool mount_holds(const struct mount *mount, const char *path, size_t *depth);

/* Appends a JSON object: mount point to {"type", "options"}. */
void mounts_json(struct buffer *out, const char *lines);

#endif
