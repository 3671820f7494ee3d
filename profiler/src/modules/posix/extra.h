/* Calls on files that Darshan's records have no slot for. */
#ifndef IOLENS_EXTRA_H
#define IOLENS_EXTRA_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "../../files/registry.h"
#include "../../system/spin.h"
#include "../../runtime/wrap.h"

enum extra {
#define EXTRA(name, meaning) EXTRA_##name,
#include "extra.def"
#undef EXTRA
    EXTRAS
};

/* A successful call on a path; the time counts. */
void extra_on_path(const struct call *c, int dirfd, const char *path, enum extra which);

/* The same on a descriptor. */
void extra_on_fd(const struct call *c, int fd, enum extra which);

/* A call that moved `bytes` from one descriptor to another within the kernel: a read of the one and a write
 * of the other. Offsets: POSIX_AT_POSITION for the file position. */
void extra_on_move(const struct call *c, int from, int64_t from_offset, int to, int64_t to_offset,
                   int64_t bytes, enum extra which);

/* The latest call on the file is timed elsewhere, too, if it ended in [t0, t1]: its time is taken away here.
 */
void extra_leave_out(const struct file *file, double t0, double t1);

/* The offset behind a pointer, or POSIX_AT_POSITION for NULL. */
int64_t extra_place(const off_t *offset);

#endif
