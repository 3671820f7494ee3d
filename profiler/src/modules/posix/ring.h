/* The state of a ring of io_uring that is followed: its mappings, its requests between submission and
 * completion, and the files in its table of files. */
#ifndef IOLENS_RING_H
#define IOLENS_RING_H

#include <stdint.h>

#include "../../system/spin.h"

/* The memory of a ring of io_uring as Linux lays it out (linux/io_uring.h, which old systems lack), and the
 * part of liburing's `struct io_uring` that all its versions share. */

/* Offsets into the mapped ring, as io_uring_setup returns them. */
struct ring_submission_offsets {
    uint32_t head, tail, mask, entries, flags, dropped, array, reserved;
    uint64_t memory;
};

struct ring_completion_offsets {
    uint32_t head, tail, mask, entries, overflow, completions, flags, reserved;
    uint64_t memory;
};

struct ring_params {
    uint32_t submissions, completions, flags, thread_core, thread_idle, features, workers, reserved[3];
    struct ring_submission_offsets submission;
    struct ring_completion_offsets completion;
};

/* Bits of ring_params.flags; the last one is the lowest bit that Linux 6.18 gave to a feature that changes
 * the layout. */
enum {
    RING_POLLED = 1 << 1, /* A thread of the kernel takes requests from the ring without a system call. */
    RING_LARGE_REQUESTS = 1 << 10,
    RING_LARGE_COMPLETIONS = 1 << 11,
    RING_OWN_MEMORY = 1 << 14,
    RING_REGISTERED_ONLY = 1 << 15,
    RING_NO_ARRAY = 1 << 16,
    RING_FIRST_UNKNOWN = 1 << 18
};

/* Bits of ring_params.features. RING_SINGLE_MAPPING: one mapping holds both rings. RING_WAIT_ARGUMENT: a call
 * that waits takes its time limit as an argument. */
enum { RING_SINGLE_MAPPING = 1 << 0, RING_WAIT_ARGUMENT = 1 << 8 };

/* Offsets for mmap of a ring's descriptor. */
#define RING_MAPS_RINGS    INT64_C(0)
#define RING_MAPS_REQUESTS INT64_C(0x10000000)

/* Bits of the flags of io_uring_enter. */
enum { RING_ENTERS_REGISTERED = 1 << 4 };

/* A request in the submission ring. */
struct ring_submission {
    uint8_t operation, flags;
    uint16_t priority;
    int32_t fd;
    uint64_t offset, address;
    uint32_t length, call_flags;
    uint64_t key;
    uint16_t buffer, personality;
    /* Source file of a splice; or, for a file that is opened or closed in the ring's table, one more than the
       slot. */
    uint32_t other_file;
    uint64_t rest[2];
};

_Static_assert(sizeof(struct ring_submission) == 64,
               "struct ring_submission must have 64 bytes, as in the kernel");

/* Bits of ring_submission.flags. */
enum { RING_FIXED_FILE = 1 << 0, RING_CHOOSES_BUFFER = 1 << 5, RING_SKIPS_SUCCESS = 1 << 6 };

/* Value of other_file that asks the kernel to choose the slot and to return its number. */
#define RING_ANY_SLOT UINT32_MAX

struct ring_completion {
    uint64_t key;
    int32_t result;
    uint32_t flags;
};

/* Bit of ring_completion.flags: the request stays active and will complete again. */
enum { RING_MORE_FOLLOW = 1 << 1 };

enum ring_operation {
    RING_READV = 1,
    RING_WRITEV = 2,
    RING_FSYNC = 3,
    RING_READ_FIXED = 4,
    RING_WRITE_FIXED = 5,
    RING_FALLOCATE = 17,
    RING_OPENAT = 18,
    RING_CLOSE = 19,
    RING_FILES_UPDATE = 20,
    RING_STATX = 21,
    RING_READ = 22,
    RING_WRITE = 23,
    RING_OPENAT2 = 28,
    RING_SPLICE = 30,
    RING_RENAMEAT = 35,
    RING_UNLINKAT = 36,
    RING_MKDIRAT = 37,
    RING_LINKAT = 39,
    RING_READ_MULTISHOT = 49,
    RING_FTRUNCATE = 55,
    RING_READV_FIXED = 60,
    RING_WRITEV_FIXED = 61
};

/* Operations of io_uring_register that change the table of files, and one that moves the rings. */
enum ring_registration {
    RING_REGISTER_FILES = 2,
    RING_UNREGISTER_FILES = 3,
    RING_REGISTER_FILES_UPDATE = 6,
    RING_REGISTER_FILES2 = 13,
    RING_REGISTER_FILES_UPDATE2 = 14,
    RING_REGISTER_RESIZE = 33
};

/* Arguments of RING_REGISTER_FILES2 and of the two updates, which share their first three members. */
struct ring_file_table {
    uint32_t files, flags;
    uint64_t reserved, fds, tags;
};

struct ring_file_update {
    uint32_t first, reserved;
    uint64_t fds, tags;
    uint32_t files, reserved2;
};

/* The beginning of liburing's `struct io_uring`. */
struct liburing {
    struct {
        uint32_t *head, *tail, *mask, *entries, *flags, *dropped, *array;
        struct ring_submission *requests;
        uint32_t taken, prepared; /* Positions in `requests` up to which the library has submitted and the
                                     program has prepared. */
        size_t bytes;
        char *memory;
        uint32_t padding[4];
    } submission;
    struct {
        uint32_t *head, *tail, *mask, *entries, *flags, *overflow;
        struct ring_completion *completions;
        size_t bytes;
        char *memory;
        uint32_t padding[4];
    } completion;
    uint32_t flags;
    int fd;
    uint32_t features;
};

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

/* Returns the file in a slot; it is NULL if unknown. A transfer of `bytes` moves the position, and the
 * returned offset is the position before. */
struct ring_file ring_files_find(struct ring *ring, uint32_t slot, int64_t bytes);

/* Sets the file that was opened into a slot; NULL empties the slot. */
void ring_files_put(struct ring *ring, uint32_t slot, struct ring_file file);

/* Sets the files of slots by descriptors; -1 empties a slot, -2 leaves it as it is. */
void ring_files_set(struct ring *ring, uint32_t first, const int *fds, uint32_t count);

/* Replaces the table by one of `count` empty slots; 0 removes it. */
void ring_files_resize(struct ring *ring, uint32_t count);

/* Adds a request, which is found later by its key, the program's user_data. The caller holds the ring's
 * lock. */
void ring_requests_add(struct ring *ring, struct ring_request *request);

/* Removes and returns the oldest request with this key, or the newest if `newest`; NULL if there is none.
 * Sets `several` if one of the next requests with this key is for another file. The caller holds the ring's
 * lock. */
struct ring_request *ring_requests_take(struct ring *ring, uint64_t key, bool newest, bool *several);

/* Reads the arguments of a request before it is submitted, because the program may change its memory
 * afterwards. */
void ring_request_begin(struct ring *ring, struct ring_request *request);

/* Records a request that was seen completed at `now`, in seconds by iolens.clock. */
void ring_request_end(struct ring *ring, struct ring_request *request, double now);

/* Undoes ring_request_begin for a request that the kernel did not take. */
void ring_request_undo(struct ring_request *request);

/* Counts a request whose completion was not seen. */
void ring_request_abandon(struct ring_request *request);

enum ring_count {
#define RING_COUNT(name, unit, meaning) RING_COUNT_##name,
#include "ring_counts.def"
#undef RING_COUNT
    RING_COUNTS
};

struct ring_counts {
    _Atomic int64_t values[RING_COUNTS];
};

/* Adds to a count, unless recording is paused. */
void ring_counts_add(enum ring_count which, int64_t amount);

#endif
