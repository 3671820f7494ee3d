/* From a stdio stream to its file and offset. Lookup takes no lock; entries are recycled and never unmapped.
 */
#ifndef IOLENS_STREAMS_H
#define IOLENS_STREAMS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <unistd.h>

#include "../../system/spin.h"

struct file;

struct stream {
    _Atomic(FILE *) handle; /* NULL: free for reuse */
    struct file *file;
    _Atomic(void *) stdio; /* the STDIO module's state, NULL until the first operation */
    int64_t offset;
    int fd;          /* when it was opened */
    bool listed;     /* met in the C library's list of open streams */
    bool append;     /* what is written goes to the file's end */
    int64_t pending; /* … and these bytes, which were counted, are still in its buffer */
    _Atomic(struct stream *) next;
};

enum { STREAM_BUCKETS = 256 };

struct streams {
    struct spin lock;
    _Atomic(struct stream *) buckets[STREAM_BUCKETS];
    bool redirected[STDERR_FILENO + 1]; /* by descriptor */
};

/* When the program begins: which standard streams are files, as where a shell redirects them. */
void streams_start(void);

/* Returns true if this name of Darshan's is that of such a stream. */
bool streams_is_redirected(const char *name);

/* NULL when the stream is not recorded. stdin, stdout and stderr are added when they are first asked for. */
struct stream *streams_find(FILE *handle);

/* The same without adding anything. */
struct stream *streams_known(FILE *handle);

/* Make `handle` stand for `file` at `offset`. NULL without memory. */
struct stream *streams_open(FILE *handle, struct file *file, int64_t offset);

void streams_forget(FILE *handle);

/* The stream's file in this process's registry; NULL without memory. */
struct file *streams_own(struct stream *stream);

/* False when another file is known by its descriptor: then the stream is gone. */
bool streams_has_descriptor(struct stream *stream);

/* The file behind a handle, or NULL. */
struct file *streams_file(FILE *handle);

/* Have each stream ask for its state again; and for its position, where it is still open. */
void streams_forget_states(void);
void streams_ask_offsets(void);

/* Returns the bytes in a stream's buffer that are to be written. */
int64_t streams_held(FILE *handle);

/* Do this with each stream that appends and had bytes in its buffer at its last call. It may be gone: a
 * program can close a stream by ways that are not wrapped. So what its handle points at must not be looked
 * at. */
void streams_each_pending(void (*work)(struct stream *stream));

bool streams_any_pending(void);

/* Do this with each recorded stream that is open, the newest first, and the bytes in its buffer that are to
 * be written: the order in which the C library flushes them. */
void streams_each_open(void (*work)(struct stream *stream, int64_t left));

/* The records are gone, as in a child of fork: the streams stay, with their files until they are used. */
void streams_reset(void);

#endif
