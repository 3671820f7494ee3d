/* Writing one file from all ranks: each compresses its own part, parts follow one another in rank order,
 * offsets come from an exclusive scan, bytes go out by plain pwrite. The file has its final name only when
 * all succeeded. */
#ifndef IOLENS_WRITER_H
#define IOLENS_WRITER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "../adapter.h"
#include "buffer.h"
#include "logfile.h"
#include "path.h"

struct writer {
    const struct iolens_transport *transport;
    int fd;
    int error;                /* errno of this rank's first failure, 0 when none */
    uint64_t offset;          /* where the next region begins; the same on all ranks */
    char name[PATH_BYTES];    /* final */
    char partial[PATH_BYTES]; /* while it is written */
};

/* On rank 0: create the file that is written. False when a log of that name is there or being written by
 * another process, unless it is to be replaced; other failures show in writer_close. On other ranks: nothing.
 */
bool writer_create(struct writer *writer, const struct iolens_transport *transport, const char *name,
                   bool replace);

/* Collective. Open rank 0's file; the first region will begin at `offset`. */
void writer_open(struct writer *writer, uint64_t offset);

/* This rank cannot go on: the log will not get its final name. Collective calls must go on all the same. */
void writer_fail(struct writer *writer, int error);

/* Collective. Compress this rank's part (nothing when it is empty, unless `always`) and write it. */
struct log_span writer_region(struct writer *writer, const struct buffer *part, bool always);

/* This rank alone: write bytes as they are. */
void writer_put(struct writer *writer, uint64_t offset, const void *bytes, size_t count);

/* Collective. Rename or remove; the first failed rank says why. Returns true when the file is there. */
bool writer_close(struct writer *writer);

#endif
