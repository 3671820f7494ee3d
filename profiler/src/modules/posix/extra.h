/* Counts the calls on files that Darshan's records do not count. */
#ifndef IOLENS_EXTRA_H
#define IOLENS_EXTRA_H

#include "../../files/registry.h"
#include "../../runtime/wrap.h"
#include "../../system/spin.h"

enum extra {
#define EXTRA(name, meaning) EXTRA_##name,
#include "extra.def"
#undef EXTRA
    EXTRAS
};

/* Counts a successful call on a path, with its time. */
void extra_on_path(const struct call *c, int dirfd, const char *path, enum extra which);

/* Counts a successful call on a descriptor or a file, with its time. */
void extra_on_fd(const struct call *c, int fd, enum extra which);
void extra_on_file(const struct call *c, struct file *file, enum extra which);

/* Counts an open after which each write waits for the storage. */
void extra_on_sync_open(const struct call *c, struct file *file);

/* Adds the time of an fsync or fdatasync, which the POSIX record counts as time of writing. */
void extra_on_sync(const struct call *c, struct file *file);

/* Records a call that moved `bytes` between two descriptors inside the kernel, as a read of the first and a
 * write of the second. An offset of POSIX_AT_POSITION means the file position. */
void extra_on_move(const struct call *c, int from, int64_t from_offset, int to, int64_t to_offset,
                   int64_t bytes, enum extra which);

/* Subtracts the time of the latest call on the file if that call ended in [t0, t1], because another counter
 * contains this time, too. */
void extra_leave_out(const struct file *file, double t0, double t1);

/* Returns the offset at which a call that moved this many bytes began, computed from the offset that the call
 * has advanced. Returns POSIX_AT_POSITION if `offset` is NULL, or if the call failed, because the pointer may
 * then be invalid. */
int64_t extra_place(const off_t *offset, ssize_t moved);

#endif
