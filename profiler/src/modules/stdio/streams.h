/* Finds the file and offset of a stdio stream. Lookup takes no lock; entries are recycled and never
 * unmapped. */
#ifndef IOLENS_STREAMS_H
#define IOLENS_STREAMS_H

#include <stdint.h>
#include <stdio.h>

#include "../../system/spin.h"

struct file;

struct stream {
    _Atomic(FILE *) handle; /* The stream; NULL if the entry is free. */
    struct file *file;
    _Atomic(void *) stdio; /* State of the STDIO module; NULL until the first operation. */
    int64_t offset;
    int fd;          /* Descriptor of the stream when it was opened. */
    bool listed;     /* True if the stream is in the C library's list of open streams. */
    bool append;     /* True if the stream is in append mode. */
    int64_t pending; /* Bytes that were counted and are still in the buffer of a stream in append mode. */
    _Atomic(struct stream *) next;
};

enum { STREAM_BUCKETS = 256 };

struct streams {
    struct spin lock;
    _Atomic(struct stream *) buckets[STREAM_BUCKETS];
    _Atomic bool
        replaced[STDERR_FILENO + 1]; /* True if the program has given this descriptor another file. */
    /* Bytes that a standard stream had moved under Darshan's name when its descriptor got another file. */
    int64_t moved[STDERR_FILENO + 1];
    bool redirected[STDERR_FILENO + 1]; /* True if the standard stream with this descriptor is a file. */
    uint64_t id[STDERR_FILENO + 1];     /* Record ids of the standard streams, by descriptor. */
};

/* Finds the standard streams that are files, as after a redirection by a shell. Called when the program
 * begins. */
void streams_start(void);

/* Returns true if this pseudo-file name of Darshan's, such as <STDOUT>, belongs to a standard stream that is
 * redirected to a file. */
bool streams_is_redirected(const char *name);

/* Returns true if this record id belongs to a standard stream that is not a file but, for example, a terminal
 * or a pipe. */
bool streams_is_no_file(uint64_t id);

/* Returns the entry of a stream; NULL if the stream is not recorded. Adds stdin, stdout and stderr at their
 * first use. */
struct stream *streams_find(FILE *handle);

/* Returns the entry of a stream without adding one. */
struct stream *streams_known(FILE *handle);

/* Registers the stream `handle` for `file` at `offset`. Returns NULL without memory. */
struct stream *streams_open(FILE *handle, struct file *file, int64_t offset);

void streams_forget(FILE *handle);

/* Has a standard stream look again which file it belongs to, because its descriptor now belongs to another
 * one. Does nothing for other descriptors. */
void streams_replaced(int fd);

/* Returns the registry's entry for the stream's file in this process; NULL without memory. */
struct file *streams_own(struct stream *stream);

/* Returns false if the stream's descriptor now belongs to another file, which means that the stream was
 * closed. */
bool streams_has_descriptor(struct stream *stream);

/* Returns the file of a stream, or NULL. */
struct file *streams_file(FILE *handle);

/* Makes every stream look up its state again, and its position if it is still open. */
void streams_forget_states(void);
void streams_ask_offsets(void);

/* Returns the number of unwritten bytes in a stream's buffer. */
int64_t streams_held(FILE *handle);

/* Calls a function for each stream in append mode that had bytes in its buffer after its last call. The
 * function must not dereference the handle, because the program may have closed the stream in a way that is
 * not wrapped. */
void streams_each_pending(void (*work)(struct stream *stream));

bool streams_any_pending(void);

/* Calls a function for each recorded open stream and its unwritten bytes, newest stream first: the order in
 * which the C library flushes them. */
void streams_each_open(void (*work)(struct stream *stream, int64_t left));

/* Detaches all streams from their records, which a child of fork has lost. Each stream keeps its file, and
 * gets a record again when it is used next. */
void streams_reset(void);

#endif
