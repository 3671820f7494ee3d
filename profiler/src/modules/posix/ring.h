/* The state of a ring of io_uring that is followed: its mappings, its requests between submission and
 * completion, and the files in its table of files. */
#ifndef IOLENS_RING_H
#define IOLENS_RING_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "../../system/spin.h"
#include "ring_layout.h"

struct file;

/* Progress of a request. REQUEST_READING: the thread that noted it reads its arguments. REQUEST_PENDING: it
 * waits for its completion. REQUEST_ANSWERED, REQUEST_LEFT: its completion was seen, or its ring was left,
 * before its arguments were read; the thread that reads them ends the request. */
enum ring_progress { REQUEST_READING, REQUEST_PENDING, REQUEST_ANSWERED, REQUEST_LEFT };

struct ring_request {
    struct ring_submission asked;
    enum ring_progress progress; /* Progress of the request; changed with the ring's lock held. */
    struct file *file;           /* The file that the request is about; NULL if unknown. */
    void *taken;      /* Open file that a close request has taken out of the table of descriptors. */
    char *paths[2];   /* Absolute paths that the request names; NULL if there is none. */
    int64_t bytes;    /* Number of bytes that a read or write asks for. */
    double submitted; /* Time of submission, in seconds by iolens.clock. */
    int flags, mode;  /* Arguments of an open request. */
    int32_t result;   /* Result of the request; set at completion. */
    bool aligned, appends;
    /* True for a copy of a request that the kernel keeps active. The copy stands for a single completion; the
     * paths belong to the original. */
    bool continues;
    struct ring_request *next;
};

enum { RING_BUCKETS = 64 };

/* The table of files that are registered with a ring; a slot without a file is empty or unknown. */
struct ring_files {
    struct ring_file {
        struct file *file;
        int64_t offset; /* File position, for requests that give no offset. */
        bool appends;
    } * slots;
    uint32_t count;
};

struct ring {
    struct spin lock; /* Held while anything below is used, but never during a system call. */
    _Atomic int fd;   /* Descriptor of the ring; -1 if the ring is not followed. */
    uint32_t flags, submissions, completions;
    /* Read-only mappings of the ring: one with positions and completions, and one with requests. */
    const char *memory, *requests;
    size_t bytes, request_bytes;
    const _Atomic uint32_t *head, *tail, *array, *completed; /* `array` is NULL if the ring has no index
                                                              * array. */
    const char *answers;
    /* Positions in the two rings up to which submissions and completions have been seen. */
    uint32_t submitted, answered;
    uint32_t calls; /* Calls of the program on this ring that have not returned. */
    struct ring_bucket {
        struct ring_request *first, *last;
    } pending[RING_BUCKETS];
    struct ring_request *free;
    struct ring_files files;
};

#endif
