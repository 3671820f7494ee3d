/* The memory of a ring of io_uring as Linux lays it out (linux/io_uring.h, which old systems lack), and the
 * part of liburing's `struct io_uring` that all its versions share. */
#ifndef IOLENS_RING_LAYOUT_H
#define IOLENS_RING_LAYOUT_H

#include <stddef.h>
#include <stdint.h>

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

#endif
