#include "fds.h"

#include <limits.h>
#include <poll.h>
#include <sys/socket.h>

#include "../runtime/context.h"
#include "../system/large_room.h"
#include "../system/system_call.h"
#include "names.h"

struct fds iolens_fds;

/* Knowledge about each descriptor. Those without an open file are NUMBER_UNKNOWN until the kernel was asked,
 * then NUMBER_SETTLED: they are no files that are recorded. Those with one are NUMBER_DOUBTED if they may
 * have been closed unseen. */
enum { NUMBER_UNKNOWN, NUMBER_SETTLED, NUMBER_DOUBTED };
static _Atomic uint8_t knowledge[FDS_MAX] LARGE_ROOM;
static _Atomic int known; /* One more than the highest descriptor whose knowledge was ever set. */

/* Returns FDS_ALWAYS if the kernel must be asked for the position of a new open file after each transfer,
 * else 0. */
static uint8_t asks_of(int fd, bool append)
{
    bool streamed = fd < (int)(8 * sizeof iolens_fds.streamed) && iolens_fds.streamed >> fd & 1;
    return append || streamed ? FDS_ALWAYS : 0;
}

static bool in_range(int fd) { return fd >= 0 && fd < FDS_MAX; }

static void know(int fd, uint8_t what)
{
    knowledge[fd] = what;
    if (fd >= known)
        known = fd + 1;
}

/* Functions with "locked" in their name must be called with fds.lock held. */

static void release_locked(struct open_file *open)
{
    if (--open->descriptors > 0)
        return;
    open->next_free = iolens_fds.free;
    iolens_fds.free = open;
}

static struct open_file *new_open_locked(void)
{
    struct open_file *open = iolens_fds.free;
    if (!open)
        return arena_alloc_lines(&iolens.scratch, sizeof *open);
    iolens_fds.free = open->next_free;
    return open;
}

static void set_locked(int fd, struct open_file *open)
{
    struct open_file *before = atomic_exchange(&iolens_fds.table[fd], open);
    if (before)
        release_locked(before);
    if (open)
        open->descriptors++;
    knowledge[fd] = NUMBER_UNKNOWN;
    if (fd >= iolens_fds.used)
        iolens_fds.used = fd + 1;
}

struct open_file *fds_open(int fd, struct file *file, bool append)
{
    struct open_file *open = NULL;
    if (!in_range(fd))
        return NULL;
    spin_lock(&iolens_fds.lock);
    if (!iolens_fds.table)
        iolens_fds.table = pages_alloc(FDS_MAX * sizeof *iolens_fds.table);
    if (iolens_fds.table && (open = new_open_locked())) {
        *open = (struct open_file){.file = file, .append = append, .asks = asks_of(fd, append)};
        set_locked(fd, open);
    }
    spin_unlock(&iolens_fds.lock);
    if (!open)
        registry_leave_out(~0u);
    return open;
}

/* Returns 64 bits, one for each descriptor from `first` on: 1 if it is open. */
static uint64_t open_from(int first)
{
    struct pollfd asked[64];
    uint64_t open = 0;
    for (int i = 0; i < 64; i++)
        asked[i] = (struct pollfd){.fd = first + i};
    bool told = system_call(SYS_ppoll, asked, 64L, &(struct timespec){0}, NULL, 0L) >= 0;
    for (int i = 0; i < 64; i++) {
        bool is_open =
            told ? !(asked[i].revents & POLLNVAL) : system_call(SYS_fcntl, first + i, F_GETFD) >= 0;
        open |= (uint64_t)is_open << i;
    }
    return open;
}

/* Returns the number of open descriptors, which Linux tells since 6.2; on older systems a number larger than
 * any real one. */
static int count_open(void)
{
    struct stat info;
    return file_info("/proc/self/fd", &info) == 0 && info.st_size > 0 ? (int)info.st_size : INT_MAX;
}

void fds_start(void)
{
    int left = count_open();
    for (int word = 0; word < FDS_GIVEN_WORDS && left > 0; word++) {
        iolens_fds.given[word] = open_from(64 * word);
        left -= __builtin_popcountll(iolens_fds.given[word]);
    }
}

void fds_learn_kind(int fd)
{
    struct stat info;
    struct open_file *open = iolens_fds.table && in_range(fd) ? iolens_fds.table[fd] : NULL;
    int saved_errno = errno;
    if (open && open->kind == FD_NOT_ASKED)
        open->kind = file_info_fd(fd, &info) == 0 && S_ISREG(info.st_mode) ? FD_REGULAR : FD_OTHER;
    errno = saved_errno;
}

/* Returns the file whose name the kernel gives for a descriptor. */
static struct file *named_file(int fd)
{
    char *path = path_room_take();
    struct file *file = path && names_of_fd(path, fd) ? registry_file(path) : NULL;
    path_room_give(path);
    return file;
}

/* Returns true if the program inherited another descriptor of the same file, as after `program >out 2>&1`.
 * Both may share one open file and its position. */
static bool is_given_twice(int fd, const struct stat *info)
{
    struct stat other;
    for (int i = 0; i < FDS_GIVEN_MOST; i++)
        if (i != fd && fds_is_given(i) && file_info_fd(i, &other) == 0 && other.st_ino == info->st_ino &&
            other.st_dev == info->st_dev)
            return true;
    return false;
}

/* Returns true if other descriptors of the file are followed. They may share the new open file's position;
 * from now on the kernel is asked for the position of each. */
static bool is_followed_elsewhere(const struct file *file)
{
    bool found = false;
    for (int fd = 0; iolens_fds.table && fd < iolens_fds.used; fd++) {
        struct open_file *open = iolens_fds.table[fd];
        if (!open || open->file != file)
            continue;
        open->asks |= FDS_ALWAYS;
        found = true;
    }
    return found;
}

/* Returns the open file of a descriptor whose opening was not recorded. The kernel tells whether it is in
 * append mode. Its position is read only after the first recorded transfer, which may already have moved
 * it. */
struct open_file *fds_inherited(int fd)
{
    struct stat info;
    if (!in_range(fd) || knowledge[fd] == NUMBER_SETTLED || !iolens_owns_memory())
        return NULL;
    know(fd, NUMBER_SETTLED);
    if (file_info_fd(fd, &info) != 0 || !S_ISREG(info.st_mode))
        return NULL;
    struct file *file = named_file(fd);
    long flags = system_call(SYS_fcntl, fd, F_GETFL);
    bool followed = file && is_followed_elsewhere(file), shared = followed || is_given_twice(fd, &info);
    struct open_file *open = file ? fds_open(fd, file, flags > 0 && flags & O_APPEND) : NULL;
    if (open) {
        open->asks |= shared ? FDS_ALWAYS : FDS_ONCE;
        open->inherited = true;
    }
    return open;
}

void fds_ask_again(int fd)
{
    struct open_file *before = fds_take(fd);
    bool asked = fd >= 0 && fd < FDS_GIVEN_MOST && (before || fds_is_given(fd));
    if (asked)
        iolens_fds.given[fd / 64] |= UINT64_C(1) << fd % 64;
    if (before)
        fds_release(before);
    fds_closed(fd);
    /* From now on the standard output may move the position of another descriptor without a call on that
     * descriptor. */
    if (asked)
        fds_inherited(fd);
}

void fds_closed(int fd)
{
    if (in_range(fd) && knowledge[fd] != NUMBER_UNKNOWN)
        knowledge[fd] = NUMBER_UNKNOWN;
}

void fds_fresh(int fd, bool may_be_file)
{
    struct open_file *before = fds_take(fd);
    if (before) {
        fds_release(before);
        fds_doubt();
    }
    if (in_range(fd))
        know(fd, may_be_file ? NUMBER_UNKNOWN : NUMBER_SETTLED);
}

void fds_received(const struct msghdr *message)
{
    int fd;
    /* CMSG_NXTHDR takes the message as one that may be changed. */
    struct msghdr *parts = (struct msghdr *)message;
    for (struct cmsghdr *part = CMSG_FIRSTHDR(parts); part; part = CMSG_NXTHDR(parts, part)) {
        size_t bytes = part->cmsg_len > CMSG_LEN(0) ? part->cmsg_len - CMSG_LEN(0) : 0;
        bool rights = part->cmsg_level == SOL_SOCKET && part->cmsg_type == SCM_RIGHTS;
        for (size_t at = 0; rights && at + sizeof fd <= bytes; at += sizeof fd) {
            memcpy(&fd, CMSG_DATA(part) + at, sizeof fd);
            fds_fresh(fd, true);
        }
    }
}

void fds_doubt_one(int fd)
{
    struct open_file *open = iolens_fds.table && in_range(fd) ? iolens_fds.table[fd] : NULL;
    if (!open)
        return;
    know(fd, NUMBER_DOUBTED);
    open->asks |= FDS_DOUBT;
}

void fds_doubt(void)
{
    for (int fd = 0; fd < known; fd++)
        knowledge[fd] = NUMBER_UNKNOWN;
    for (int fd = 0; fd < iolens_fds.used; fd++)
        fds_doubt_one(fd);
}

void fds_renamed(const struct file *file)
{
    struct stat info;
    for (int fd = 0; iolens_fds.table && fd < iolens_fds.used; fd++) {
        struct open_file *open = iolens_fds.table[fd];
        if (!open || open->file != file || open->inode != 0 || knowledge[fd] == NUMBER_DOUBTED)
            continue;
        if (file_info_fd(fd, &info) == 0) {
            open->inode = info.st_ino;
            open->device = info.st_dev;
        }
    }
}

/* Returns true if the kernel's name of a descriptor is that of the file, also if the file has been unlinked
 * meanwhile or never had a name in its folder (O_TMPFILE). */
static bool has_name(int fd, const struct file *file)
{
    char *name = path_room_take();
    size_t length = strlen(file->path);
    if (name) {
        name[0] = '\0';
        names_of_fd(name, fd);
    }
    const char *rest = name && strncmp(name, file->path, length) == 0 ? name + length : NULL;
    bool same = rest && (*rest == '\0' || strcmp(rest, " (deleted)") == 0 || strncmp(rest, "/#", 2) == 0);
    path_room_give(name);
    return same;
}

/* Returns true if a descriptor belongs to an open file, by the kernel's word. A standard stream, which has no
 * path, is believed. */
static bool is_still(int fd, struct open_file *open)
{
    struct stat info, named;
    if (open->file->path[0] != '/')
        return true;
    if (file_info_fd(fd, &info) != 0)
        return false;
    if (open->inode != 0)
        return open->inode == info.st_ino && open->device == info.st_dev;
    bool same = has_name(fd, open->file) || (file_info(open->file->path, &named) == 0 &&
                                             named.st_ino == info.st_ino && named.st_dev == info.st_dev);
    if (same) {
        open->inode = info.st_ino;
        open->device = info.st_dev;
    }
    return same;
}

/* Returns true if another descriptor of an open file is still in doubt. */
static bool is_doubted_elsewhere(const struct open_file *open)
{
    for (int fd = 0; open->descriptors > 1 && fd < iolens_fds.used; fd++)
        if (iolens_fds.table[fd] == open && knowledge[fd] == NUMBER_DOUBTED)
            return true;
    return false;
}

struct open_file *fds_recheck(int fd, struct open_file *open)
{
    if (knowledge[fd] != NUMBER_DOUBTED)
        return open;
    bool same = is_still(fd, open);
    knowledge[fd] = NUMBER_UNKNOWN;
    if (!is_doubted_elsewhere(open))
        open->asks &= (uint8_t)~FDS_DOUBT;
    if (same)
        return open;
    fds_forget(fd, fd);
    return fds_inherited(fd);
}

void fds_stream(int fd)
{
    if (fd < 0 || fd >= (int)(8 * sizeof iolens_fds.streamed))
        return;
    iolens_fds.streamed |= UINT64_C(1) << fd;
    struct open_file *open = iolens_fds.table ? iolens_fds.table[fd] : NULL;
    if (open)
        open->asks |= FDS_ALWAYS;
}

void fds_duplicate(int copy, struct open_file *open)
{
    if (!in_range(copy))
        return;
    spin_lock(&iolens_fds.lock);
    if (iolens_fds.table[copy] != open)
        set_locked(copy, open);
    open->asks |= asks_of(copy, false);
    spin_unlock(&iolens_fds.lock);
}

struct open_file *fds_take(int fd)
{
    if (!iolens_fds.table || !in_range(fd))
        return NULL;
    return atomic_exchange(&iolens_fds.table[fd], NULL);
}

void fds_release(struct open_file *open)
{
    spin_lock(&iolens_fds.lock);
    release_locked(open);
    spin_unlock(&iolens_fds.lock);
}

void fds_forget(int first, int last)
{
    for (int fd = first < 0 ? 0 : first; fd <= last && (fd < iolens_fds.used || fd < known); fd++) {
        struct open_file *open = fds_take(fd);
        if (open)
            fds_release(open);
        fds_closed(fd);
    }
}

void fds_forget_states(void)
{
    for (int fd = 0; iolens_fds.table && fd < iolens_fds.used; fd++) {
        struct open_file *open = iolens_fds.table[fd];
        if (open)
            open->posix = NULL;
    }
}

void fds_ask_offsets(void)
{
    for (int fd = 0; iolens_fds.table && fd < iolens_fds.used; fd++) {
        struct open_file *open = iolens_fds.table[fd];
        off_t offset = open ? system_call(SYS_lseek, fd, 0L, SEEK_CUR) : -1;
        if (offset >= 0)
            open->offset = offset;
    }
}

void fds_reset(void)
{
    iolens_fds.lock = (struct spin){ATOMIC_FLAG_INIT};
    fds_forget_states();
}

struct file *fds_file(struct open_file *open)
{
    struct file *file = registry_own(open->file);
    if (file &&
        file != open->file) /* An unneeded write would slow down other threads that use the same open file. */
        open->file = file;
    return file;
}
