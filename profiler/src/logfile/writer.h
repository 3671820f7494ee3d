/* Writing one file from all ranks: each compresses its own parts, the parts of a region follow one another in
 * rank order, the offsets of all regions come from one exclusive scan, bytes go out by plain pwrite. The file
 * has its final name only when all succeeded. */
#ifndef IOLENS_WRITER_H
#define IOLENS_WRITER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "../adapter.h"
#include "../memory/buffer.h"
#include "logfile.h"
#include "../system/path.h"
#include "../compression/records.h"

enum { WRITER_REGIONS = 96 };

/* A region: one complete zlib stream of each rank that has something to say. */
struct region {
    struct buffer part;   /* this rank's stream */
    struct log_span span; /* of all parts together; known from writer_put_regions on */
};

struct writer {
    const struct iolens_transport *transport;
    int fd;
    int error;       /* errno of this rank's first failure, 0 when none */
    uint64_t offset; /* behind what is placed already; the same on all ranks */
    bool untrusted;  /* somebody else's symbolic link stands in the path */
    struct {
        char text[PATH_BYTES]; /* final */
        uint64_t creator;      /* process of rank 0 */
        uint64_t inode;        /* of what it created */
    } name;
    char partial[PATH_BYTES]; /* while it is written */
    int regions;
    struct region region[WRITER_REGIONS];
};

/* On rank 0: create the file that is written, for this user alone. False when a log of that name is there or
 * being written by another process, unless it is to be replaced; other failures show in writer_close. On
 * other ranks: nothing.
 */
bool writer_create(struct writer *writer, const struct iolens_transport *transport, const char *name,
                   bool replace);

/* Collective. Open rank 0's file; the first region will begin at `offset`. */
void writer_open(struct writer *writer, const struct iolens_transport *transport, uint64_t offset);

/* This rank cannot go on: the log will not get its final name. Collective calls must go on all the same. */
void writer_fail(struct writer *writer, int error);

/* Compress this rank's part of the next region (nothing when it is empty, unless `always`). All ranks add the
 * same regions in the same order. Returns the region's index. */
int writer_add(struct writer *writer, const struct buffer *part, bool always);

/* The same of records, which are closed by this. */
int writer_add_records(struct writer *writer, struct records *records);

/* Collective. Agree on where all regions lie, and write this rank's parts of them. */
void writer_put_regions(struct writer *writer, const struct iolens_transport *transport);

/* Tell the writer what kept the ranks from taking all steps together; 0: nothing. */
void writer_in_step(struct writer *writer, int error);

/* This rank alone: write bytes as they are. */
void writer_put(struct writer *writer, uint64_t offset, const void *bytes, size_t count);

/* Collective. Give it its permissions (of rank 0) and rename it, or remove it; the first failed rank says
 * why. Returns true when the file is there. */
bool writer_close(struct writer *writer, mode_t mode);

#endif
