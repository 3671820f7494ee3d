/* The POSIX module: its record, and the functions that the wrappers call after each operation
 * (posix_kinds.h). */
#ifndef IOLENS_POSIX_H
#define IOLENS_POSIX_H

#include <aio.h>
#include <stdio.h>
#include <sys/uio.h>

#include "../../files/fds.h"
#include "../../records/frequent_values.h"
#include "../../runtime/wrap.h"
#include "../../system/spin.h"
#include "../posix_record.h"
#include "../timelines/heatmap.h"

/* Pending asynchronous requests, from submission to aio_return. They are found by the address of their
 * control block, which may no longer exist when the request completes. */

struct aio_request {
    const void *control;
    void *state;   /* State of the file: a struct posix_state. */
    int direction; /* Direction of the transfer: an enum posix_direction. */
    int fd;
    int64_t offset;
    bool aligned;
    double submitted;
    struct aio_request *next;
};

enum { AIO_BUCKETS = 256 };

struct aio {
    struct spin lock;
    struct aio_request *buckets[AIO_BUCKETS];
    struct aio_request *free;
};

/* Forgets all requests. */
void aio_reset(void);

/* Stores a copy of `request`, all members but `next`. */
void aio_add(struct aio_request request);

/* Moves the request with this control block to `request`; returns false if it was not recorded. */
bool aio_take(const void *control, struct aio_request *request);

struct dxt;
struct lustre_state;
struct map_call;

enum posix_direction { POSIX_NOTHING, POSIX_READING, POSIX_WRITING };

/* Indices of the times at which the latest read, write and metadata operation ended; with them, operations
 * that overlap are counted once. */
enum { POSIX_READ_END, POSIX_WRITE_END, POSIX_META_END };

enum { POSIX_AT_POSITION = -1 }; /* An offset that means the file position. */

struct posix_state {
    struct posix_record record;
    struct spin lock;
    enum posix_direction latest;
    int64_t last_byte_read, last_byte_written;
    int64_t largest[2]; /* Size of the largest single access; read, write. */
    int bucket[2];      /* Index in record.ints of the counter for the latest size; read, write. */
    int64_t writes_not_aligned;
    double last_end[3]; /* End of the latest read, write and metadata operation. */
    struct heat heat;
    struct dxt *dxt;              /* Trace of single transfers; NULL if the file is not traced. */
    struct lustre_state *stripes; /* Stripes of the file; NULL if it has no layout. */
    struct frequent_values read_size, write_size, stride;
};

/* Creates the state at the first operation on an open file; the slow part of posix_state_of. */
struct posix_state *posix_state_new(struct open_file *open, int fd);

/* Returns the state of a descriptor's file, or NULL. */
static inline struct posix_state *posix_state_of(struct open_file *open, int fd)
{
    struct posix_state *state = atomic_load_explicit(&open->posix, memory_order_relaxed);
    return __builtin_expect(state != NULL, 1) ? state : posix_state_new(open, fd);
}

void posix_on_open(const struct call *c, int fd, int dirfd, const char *path, int flags, mode_t mode);
/* Records an open that put the file into a slot of an io_uring ring's table of files, instead of giving it a
 * descriptor. */
void posix_on_file_open(const struct call *c, struct file *file, mode_t mode);
void posix_on_dup(const struct call *c, int copy, int fd);
void posix_on_fcntl(const struct call *c, int result, int fd, int command, intptr_t value);
void posix_on_fileno(const struct call *c, int fd, FILE *stream);
void posix_on_read(const struct call *c, int fd, ssize_t bytes, int64_t offset, bool aligned);
void posix_on_write(const struct call *c, int fd, ssize_t bytes, int64_t offset, bool aligned);
/* Records a write that appended to a file in any mode; without an offset (-1) it moved the position there. */
void posix_on_append(const struct call *c, int fd, ssize_t bytes, int64_t offset, bool aligned);
/* Returns the offset at which the `bytes` that were just appended to the file begin. */
int64_t posix_begin_at_end(int fd, int64_t bytes);
void posix_on_seek(const struct call *c, int fd, int64_t offset);
void posix_on_stat(const struct call *c, int dirfd, const char *path);
/* Counts a call of stat on a path below `dirfd`; an empty path stands for `dirfd` itself. */
void posix_on_statat(const struct call *c, int dirfd, const char *path);
void posix_on_failed_stat(const struct call *c);
void posix_on_fstat(const struct call *c, int fd);
void posix_on_mmap(const struct call *c, const struct map_call *map);
void posix_on_sync(const struct call *c, int fd, enum posix_int counter);
void posix_on_file_sync(const struct call *c, struct file *file, enum posix_int counter);
void posix_on_rename(const struct call *c, int olddir, const char *from, int newdir, const char *to);

/* Removes the descriptor before the real close, while its number still belongs to this file. */
void posix_before_close(struct call *c, int fd);
void posix_on_close(const struct call *c, int result);
void posix_before_close_range(unsigned first, unsigned last, int flags);
void posix_on_close_range(const struct call *c, unsigned first, unsigned last, int flags);

void posix_on_aio_submit(const struct call *c, enum posix_direction direction, const struct aiocb *control);
void posix_on_aio_list(const struct call *c, struct aiocb *const list[], int count);
/* Records a completed request; negative bytes mean that it failed. */
void posix_on_complete(const struct aio_request *request, double t1, int64_t bytes);
void posix_on_aio_return(const struct call *c, const struct aiocb *control, ssize_t bytes);

static inline bool posix_aligned(const volatile void *memory) { return ((uintptr_t)memory & 7) == 0; }

bool posix_all_aligned(const struct iovec *vector, int count);

#endif
