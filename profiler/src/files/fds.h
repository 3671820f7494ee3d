/* Finds the open file of a descriptor with one load from an array.
 *
 * An open file is shared by the descriptors that dup made of it, as in the kernel, and owns the offset. Its
 * memory is recycled but never unmapped, so that a race between close and write in the program cannot crash
 * the recorder. */
#ifndef IOLENS_FDS_H
#define IOLENS_FDS_H

#include "../system/spin.h"
#include "registry.h"

/* FDS_MAX: descriptors from this number on are not followed. FDS_GIVEN_MOST: for inherited descriptors from
 * this number on, it is not known whether two of them share a position. */
enum { FDS_MAX = 1 << 20, FDS_GIVEN_MOST = 1024, FDS_GIVEN_WORDS = FDS_GIVEN_MOST / 64 };

struct open_file {
    struct file *file;
    _Atomic(void *) posix; /* State of the POSIX module; NULL until the first operation, also after a fork. */
    int64_t offset;
    int descriptors;
    bool append;
    bool inherited;      /* The program did not open it in a recorded call. */
    _Atomic int8_t kind; /* FD_REGULAR or another kind of descriptor. */
    /* Bits: what the kernel must be asked at a transfer. 0: nothing, and `offset` is the position. */
    uint8_t asks;
    /* Identity of the file; 0 until a doubt about one of its descriptors has been cleared up. */
    uint64_t device, inode;
    struct open_file *next_free;
};

struct fds {
    struct spin lock;
    _Atomic(struct open_file *) *table; /* An array of FDS_MAX open files; NULL until the first open. */
    _Atomic int used;                   /* One more than the highest descriptor in the table. */
    struct open_file *free;
    _Atomic uint64_t streamed; /* Bit fd: a stdio stream also moves this descriptor's position. */
    /* Bits, one for each descriptor: the program did not open it in a recorded call, because it was open when
     * the program began, or is a copy of such a descriptor. */
    _Atomic uint64_t given[FDS_GIVEN_WORDS];
};

enum { FD_NOT_ASKED, FD_REGULAR, FD_OTHER };

/* When the recorder asks the kernel for an open file's position. FDS_ALWAYS: after each transfer, because the
 * file is in append mode or a stream moves the position too. FDS_ONCE: after the first transfer, because
 * another process may have moved the position before.
 * FDS_DOUBT: one of the open file's descriptors is in doubt; see fds_doubt. */
enum { FDS_ALWAYS = 1, FDS_ONCE = 2, FDS_DOUBT = 4 };

extern struct fds iolens_fds;

/* Records which descriptors the program inherited. Called when the program begins. */
void fds_start(void);

/* Returns the open file of a descriptor whose opening was not recorded; it is made at the first call. Returns
 * NULL unless the descriptor belongs to a file with a name. The kernel is asked once for each descriptor. */
struct open_file *fds_inherited(int fd);

/* Returns true if a descriptor has an open file. */
static inline bool fds_is_followed(int fd)
{
    return iolens_fds.table && fd >= 0 && fd < FDS_MAX && iolens_fds.table[fd];
}

/* Returns true if the program inherited a descriptor, or copied it from one that it inherited. */
static inline bool fds_is_given(int fd)
{
    return fd >= 0 && fd < FDS_GIVEN_MOST && iolens_fds.given[fd / 64] >> fd % 64 & 1;
}

/* Notes that the kernel has just given the program this descriptor. The number's earlier file is forgotten;
 * if there was one, the program closed it unseen, and may have closed others, too. `may_be_file`: the kernel
 * is asked at the first use which file it is; else it is no file that is recorded. */
void fds_fresh(int fd, bool may_be_file);

/* Does the same for the descriptors that arrived with a message (SCM_RIGHTS). */
struct msghdr;
void fds_received(const struct msghdr *message);

/* Notes that the program closes a descriptor that has no open file. */
void fds_closed(int fd);

/* Has the kernel asked, at the next use of each descriptor, whether it still belongs to its file. Called when
 * the program is known to close descriptors by means that are not wrapped. */
void fds_doubt(void);
void fds_doubt_one(int fd);

/* Notes the identity of a renamed file's descriptors: a later doubt cannot be cleared up by its name. */
void fds_renamed(const struct file *file);

/* Clears up a doubt. Returns the open file to which the descriptor belongs now, or NULL. */
struct open_file *fds_recheck(int fd, struct open_file *open);

/* Forgets the file of `fd`, because `fd` has become a copy of a descriptor whose opening was not recorded.
 * The kernel is asked for the new file. */
void fds_ask_again(int fd);

/* Registers `fd` as an open descriptor of `file` and forgets its earlier file. Returns the open file, or NULL
 * without memory. */
struct open_file *fds_open(int fd, struct file *file, bool append);

/* Records that a stdio stream uses this descriptor from now on. */
void fds_stream(int fd);

/* Registers `copy` as a second descriptor of an open file. */
void fds_duplicate(int copy, struct open_file *open);

/* Removes the open file from the table and returns it; the caller must release it with fds_release. Returns
 * NULL if the descriptor is unknown. */
struct open_file *fds_take(int fd);
void fds_release(struct open_file *open);

/* Forgets descriptors `first` to `last`, which were closed without a recorded call. */
void fds_forget(int first, int last);

/* Returns the open file of a descriptor, or NULL. */
static inline struct open_file *fds_find(int fd)
{
    struct open_file *open = NULL;
    if (__builtin_expect(iolens_fds.table && fd >= 0 && fd < FDS_MAX, 1))
        open = atomic_load_explicit(&iolens_fds.table[fd], memory_order_acquire);
    if (__builtin_expect(!open, 0))
        open = fds_inherited(fd);
    return open;
}

/* Returns the open file of a descriptor after all doubts about it are cleared up. For calls that are rarer
 * than transfers. */
static inline struct open_file *fds_sure(int fd)
{
    struct open_file *open = fds_find(fd);
    return __builtin_expect(open && open->asks & FDS_DOUBT, 0) ? fds_recheck(fd, open) : open;
}

/* Returns true if a descriptor is known to belong to a regular file; false for a descriptor that was never
 * recorded. */
static inline bool fds_is_regular(int fd)
{
    struct open_file *open = NULL;
    if (__builtin_expect(iolens_fds.table && fd >= 0 && fd < FDS_MAX, 1))
        open = atomic_load_explicit(&iolens_fds.table[fd], memory_order_acquire);
    return open && atomic_load_explicit(&open->kind, memory_order_relaxed) == FD_REGULAR;
}

/* Asks the kernel for the kind of an unknown descriptor, once, and keeps the answer. Signal handlers may call
 * it; errno is preserved. */
void fds_learn_kind(int fd);

/* Detaches all open files from their records, which a child of fork has lost. Descriptors keep their files
 * until the next use. */
void fds_reset(void);

/* Makes every open file look up its state again, and ask the kernel for its position. */
void fds_forget_states(void);
void fds_ask_offsets(void);

/* Returns the registry's entry for the open file in this process; NULL without memory. */
struct file *fds_file(struct open_file *open);

#endif
