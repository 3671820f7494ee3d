/* From a descriptor to the open file it stands for: one array, one load on the hot path.
 *
 * An open file is shared by the descriptors that dup made of it, as in the kernel, and owns the offset. Its
 * memory is recycled but never unmapped, so that a race between close and write in the program cannot crash
 * the recorder. */
#ifndef IOLENS_FDS_H
#define IOLENS_FDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "registry.h"
#include "../system/spin.h"

/* Descriptors from FDS_MAX on are not followed; from FDS_GIVEN_MOST on, those are not that the program was
 * given by the one that started it. */
enum { FDS_MAX = 1 << 20, FDS_GIVEN_MOST = 1024, FDS_GIVEN_WORDS = FDS_GIVEN_MOST / 64 };

struct open_file {
    struct file *file;
    _Atomic(void *) posix; /* the POSIX module's state, NULL until the first operation after a fork */
    int64_t offset;
    int descriptors;
    bool append;
    _Atomic int8_t kind; /* FD_REGULAR ... */
    uint8_t asks;        /* FDS_ALWAYS, FDS_ONCE or both; 0: `offset` is the position */
    struct open_file *next_free;
};

struct fds {
    struct spin lock;
    _Atomic(struct open_file *) *table; /* FDS_MAX of them, NULL until the first open */
    _Atomic int used;                   /* above the highest descriptor in the table */
    struct open_file *free;
    _Atomic uint64_t streamed; /* bit fd: a standard stream moves it, whatever file it stands for */
    /* A bit for each descriptor whose opening the recorder did not see: it was open when the program began,
     * or was made a copy of an unknown one. `inherited` has those that the kernel has not been asked about.
     */
    _Atomic uint64_t given[FDS_GIVEN_WORDS], inherited[FDS_GIVEN_WORDS];
};

enum { FD_NOT_ASKED, FD_REGULAR, FD_OTHER };

/* When the kernel is asked for the position of an open file. ALWAYS: behind each transfer, because it appends
 * or a stream moves it too. ONCE: behind its first transfer, because another process may have moved it
 * before. */
enum { FDS_ALWAYS = 1, FDS_ONCE = 2 };

extern struct fds iolens_fds;

/* Notes which descriptors the program was given. Called when the program begins. */
void fds_start(void);

/* Returns the open file of a descriptor whose opening the recorder did not see, made when it is first asked
 * for. NULL unless the descriptor is of a file with a name. */
struct open_file *fds_inherited(int fd);

/* Forgets what `fd` stood for, because it was made a copy of an unknown descriptor. The kernel is asked at
 * the next call on it. */
void fds_ask_again(int fd);

/* Make `fd` stand for `file`, forgetting what it stood for. Returns the open file, or NULL without memory. */
struct open_file *fds_open(int fd, struct file *file, bool append);

/* A standard stream uses this descriptor from now on. */
void fds_stream(int fd);

/* Make `copy` stand for the open file of `fd`. */
void fds_duplicate(int copy, struct open_file *open);

/* Take the open file out of the table; the caller gives it back with fds_release. NULL when unknown. */
struct open_file *fds_take(int fd);
void fds_release(struct open_file *open);

/* Forget first..last, whose descriptors were closed behind the recorder's back. */
void fds_forget(int first, int last);

/* The open file behind a descriptor, or NULL. */
static inline struct open_file *fds_find(int fd)
{
    struct open_file *open = NULL;
    if (__builtin_expect(iolens_fds.table && fd >= 0 && fd < FDS_MAX, 1))
        open = atomic_load_explicit(&iolens_fds.table[fd], memory_order_acquire);
    if (__builtin_expect(!open, 0))
        open = fds_inherited(fd);
    return open;
}

/* Returns true if a descriptor is known to be one of a regular file. A descriptor of which nothing was
 * recorded is not. */
static inline bool fds_is_regular(int fd)
{
    struct open_file *open = NULL;
    if (__builtin_expect(iolens_fds.table && fd >= 0 && fd < FDS_MAX, 1))
        open = atomic_load_explicit(&iolens_fds.table[fd], memory_order_acquire);
    return open && atomic_load_explicit(&open->kind, memory_order_relaxed) == FD_REGULAR;
}

/* Have it known from now on, by asking the kernel once. Callable in signal handlers; errno stays. */
void fds_learn_kind(int fd);

/* The records are gone, as in a child of fork: the descriptors stay, with their files until they are used. */
void fds_reset(void);

/* Have each open file ask for its state again; and the kernel for its position. */
void fds_forget_states(void);
void fds_ask_offsets(void);

/* The open file's file in this process's registry; NULL without memory. */
struct file *fds_file(struct open_file *open);

#endif
