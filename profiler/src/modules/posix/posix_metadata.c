/* Calls that move no bytes: open, close, seek, stat, sync, rename. */
#include <limits.h>
#include <linux/close_range.h>

#include "../../files/names.h"
#include "../../system/system_call.h"
#include "../failed_calls.h"
#include "../gpu/gpu_storage.h"
#include "../io_watch.h"
#include "../lustre/lustre.h"
#include "../network/connections.h"
#include "../stdio/streams.h"
#include "../timelines/dxt.h"
#include "../timer.h"
#include "extra.h"
#include "locks.h"
#include "mapped_files.h"
#include "posix.h"
#include "rings.h"

/* Returns the state of fd's file with its lock held, or NULL. */
static struct posix_state *lock_fd(int fd)
{
    struct open_file *open = fds_sure(fd);
    struct posix_state *s = open ? posix_state_of(open, fd) : NULL;
    if (s)
        spin_lock(&s->lock);
    return s;
}

static void add_meta(struct posix_state *s, const struct call *c)
{
    timer_add(&s->record.doubles[POSIX_F_META_TIME], &s->last_end[POSIX_META_END], c->t0, c->t1);
    io_watch_call(c, "POSIX", s->record.base.id, 0);
}

static void count_meta(struct posix_state *s, const struct call *c, enum posix_int counter)
{
    spin_lock(&s->lock);
    s->record.ints[counter]++;
    add_meta(s, c);
    spin_unlock(&s->lock);
}

static void add_event(const struct posix_state *s, enum traced_event event, const struct call *c)
{
    if (s->dxt)
        traced_event_add(s->record.base.id, event, -1, c->t0, c->t1);
}

static void count_open(struct posix_state *s, const struct call *c, enum traced_event event)
{
    double *doubles = s->record.doubles;
    s->record.ints[POSIX_OPENS]++;
    timer_stamp(&doubles[POSIX_F_OPEN_START], &doubles[POSIX_F_OPEN_END], c->t0, c->t1);
    add_meta(s, c);
    add_event(s, event, c);
}

static void begin_open(struct posix_state *s, const struct call *c, mode_t mode)
{
    spin_lock(&s->lock);
    if (mode)
        s->record.ints[POSIX_MODE] = mode;
    s->last_byte_read = s->last_byte_written = 0;
    count_open(s, c, TRACED_OPEN);
    spin_unlock(&s->lock);
}

static struct file *file_of(int dirfd, const char *path, enum names_end end)
{
    char *absolute = path_room_take();
    bool found = absolute && path_absolute(absolute, dirfd, path);
    struct file *file = found ? names_file(absolute, end) : NULL;
    path_room_give(absolute);
    return file;
}

static struct file *opened_file(int fd, int dirfd, const char *path)
{
    char *absolute = path_room_take();
    bool found = absolute && path_absolute(absolute, dirfd, path);
    struct file *file = found ? names_open(absolute, fd) : NULL;
    path_room_give(absolute);
    return file;
}

/* Returns the file that had this path before a rename; NULL if the program had not used it. */
static struct file *renamed_file(int dirfd, const char *path)
{
    char *absolute = path_room_take();
    bool found = absolute && path_absolute(absolute, dirfd, path);
    struct file *file = found ? names_left(absolute) : NULL;
    path_room_give(absolute);
    return file;
}

void posix_on_open(const struct call *c, int fd, int dirfd, const char *path, int flags, mode_t mode)
{
    if (!iolens_owns_memory())
        return;
    if (flags & O_DIRECT)
        gpu_storage_look(); /* A program that opens a file with O_DIRECT may be about to transfer it to a GPU,
                               which requires O_DIRECT. */
    if (fd < 0) {
        failed_calls_add(c, FAILED_open, *errno_place());
        return;
    }
    struct file *file = opened_file(fd, dirfd, path);
    if (!file || fds_is_followed(fd))
        fds_fresh(fd, false);
    struct open_file *open = file ? fds_open(fd, file, flags & O_APPEND) : NULL;
    struct posix_state *s = open ? posix_state_of(open, fd) : NULL;
    if (open && !s && !iolens_paused())
        fds_fresh(fd, false);
    streams_replaced(fd);
    if (!s)
        return;
    if (flags & O_DSYNC) /* O_SYNC has this bit, too. */
        extra_on_sync_open(c, file);
    begin_open(s, c, mode);
}

void posix_on_file_open(const struct call *c, struct file *file, mode_t mode)
{
    struct posix_state *s = file ? registry_state(file, MODULE_POSIX, -1) : NULL;
    if (s)
        begin_open(s, c, mode);
}

void posix_on_dup(const struct call *c, int copy, int fd)
{
    struct open_file *open = fds_sure(fd);
    if (copy < 0 || !iolens_owns_memory())
        return;
    if (rings_used())
        rings_on_dup(copy, fd);
    if (!open)
        connections_on_copy(fd, copy);
    struct posix_state *s = open ? posix_state_of(open, fd) : NULL;
    if (s || (open && iolens_paused()))
        fds_duplicate(copy, open);
    else if (open)
        fds_forget(copy, copy);
    else
        fds_ask_again(copy);
    if (copy != fd)
        streams_replaced(copy);
    if (!s)
        return;
    spin_lock(&s->lock);
    s->record.ints[POSIX_DUPS]++;
    count_open(s, c, TRACED_DUP);
    spin_unlock(&s->lock);
}

void posix_on_fileno(const struct call *c, int fd, FILE *stream)
{
    struct file *file = fd >= 0 ? streams_file(stream) : NULL;
    if (!file || !iolens_owns_memory())
        return;
    struct open_file *open = fds_sure(fd);
    if (!open || open->file != file)
        open = fds_open(fd, file, false);
    if (open) {
        long flags = system_call(SYS_fcntl, fd, F_GETFL);
        open->append = flags > 0 && flags & O_APPEND;
        open->asks |= FDS_ALWAYS;
        open->inherited = false;
    }
    struct posix_state *s = open ? posix_state_of(open, fd) : NULL;
    if (!s)
        return;
    spin_lock(&s->lock);
    s->record.ints[POSIX_FILENOS]++;
    count_open(s, c, TRACED_FILENO);
    spin_unlock(&s->lock);
}

static void on_flags(int fd, intptr_t flags)
{
    struct open_file *open = fds_sure(fd);
    if (!open)
        return;
    open->append = flags & O_APPEND;
    open->asks |= open->append ? FDS_ALWAYS : 0;
}

void posix_on_fcntl(const struct call *c, int result, int fd, int command, intptr_t value)
{
    if (command == F_DUPFD || command == F_DUPFD_CLOEXEC)
        posix_on_dup(c, result, fd);
    else if (command == F_SETFL && result == 0)
        on_flags(fd, value);
    else
        locks_on_fcntl(c, result, fd, command, value);
}

void posix_on_seek(const struct call *c, int fd, int64_t offset)
{
    struct open_file *open = offset >= 0 ? fds_sure(fd) : NULL;
    struct posix_state *s = open ? posix_state_of(open, fd) : NULL;
    if (!s)
        return;
    open->offset = offset;
    count_meta(s, c, POSIX_SEEKS);
}

void posix_on_stat(const struct call *c, int dirfd, const char *path)
{
    struct file *file = file_of(dirfd, path, NAMES_TARGET);
    struct posix_state *s = file ? registry_state(file, MODULE_POSIX, -1) : NULL;
    if (s)
        count_meta(s, c, POSIX_STATS);
}

void posix_on_failed_stat(const struct call *c)
{
    if (iolens_owns_memory())
        failed_calls_add(c, FAILED_stat, *errno_place());
}

void posix_on_fstat(const struct call *c, int fd)
{
    struct open_file *open = fds_sure(fd);
    struct posix_state *s = open ? posix_state_of(open, fd) : NULL;
    if (s)
        count_meta(s, c, POSIX_STATS);
}

void posix_on_statat(const struct call *c, int dirfd, const char *path)
{
    if (path[0])
        posix_on_stat(c, dirfd, path);
    else
        posix_on_fstat(c, dirfd);
}

void posix_on_mmap(const struct call *c, const struct map_call *map)
{
    struct posix_state *s = lock_fd(map->fd);
    if (!s)
        return;
    s->record.ints[POSIX_MMAPS]++;
    spin_unlock(&s->lock);
    mapped_on_mmap(c, map);
}

/* Counts a sync of a file. Darshan counts its time as time spent writing. */
void posix_on_file_sync(const struct call *c, struct file *file, enum posix_int counter)
{
    struct posix_state *s = registry_state(file, MODULE_POSIX, -1);
    if (!s)
        return;
    spin_lock(&s->lock);
    s->record.ints[counter]++;
    timer_add(&s->record.doubles[POSIX_F_WRITE_TIME], &s->last_end[POSIX_WRITE_END], c->t0, c->t1);
    add_event(s, counter == POSIX_FDSYNCS ? TRACED_DATA_SYNC : TRACED_SYNC, c);
    spin_unlock(&s->lock);
    io_watch_call(c, "POSIX", s->record.base.id, 0);
    extra_on_sync(c, file);
}

void posix_on_sync(const struct call *c, int fd, enum posix_int counter)
{
    struct open_file *open = fds_sure(fd);
    if (open && posix_state_of(open, fd))
        posix_on_file_sync(c, fds_file(open), counter);
}

/* Looks whether a path that the program had not used was a symbolic link, which now is somewhere else. */
static void look_for_link(int dirfd, const char *path)
{
    char *absolute = path_room_take();
    if (absolute && path_absolute(absolute, dirfd, path))
        names_moved_to(absolute);
    path_room_give(absolute);
}

void posix_on_rename(const struct call *c, int olddir, const char *from, int newdir, const char *to)
{
    struct file *old = renamed_file(olddir, from);
    if (old)
        fds_renamed(old);
    else
        look_for_link(newdir, to);
    struct posix_state *source = old && !iolens_paused() ? old->state[MODULE_POSIX] : NULL;
    if (!source)
        return;
    count_meta(source, c, POSIX_RENAME_SOURCES);
    struct file *new = file_of(newdir, to, NAMES_FRESH);
    struct posix_state *target = new ? registry_state(new, MODULE_POSIX, -1) : NULL;
    if (!target)
        return;
    spin_lock(&target->lock);
    target->record.ints[POSIX_RENAME_TARGETS]++;
    if (target->record.ints[POSIX_RENAMED_FROM] == 0)
        target->record.ints[POSIX_RENAMED_FROM] = (int64_t)old->id;
    spin_unlock(&target->lock);
}

void posix_before_close(struct call *c, int fd)
{
    struct open_file *open = fds_sure(fd);
    if (!open) {
        connections_before_close(fd);
        if (rings_used())
            rings_leave(fd);
        fds_closed(fd);
    }
    if (!open || !iolens_owns_memory())
        return;
    if (posix_state_of(open, fd))
        lustre_on_close(open->file, fd);
    c->taken = fds_take(fd);
}

void posix_on_close(const struct call *c, int result)
{
    struct open_file *open = c->taken;
    struct posix_state *s = open && result == 0 ? posix_state_of(open, -1) : NULL;
    if (s) {
        double *doubles = s->record.doubles;
        spin_lock(&s->lock);
        s->last_byte_read = s->last_byte_written = 0;
        timer_stamp(&doubles[POSIX_F_CLOSE_START], &doubles[POSIX_F_CLOSE_END], c->t0, c->t1);
        add_meta(s, c);
        add_event(s, TRACED_CLOSE, c);
        spin_unlock(&s->lock);
    }
    if (open)
        fds_release(open);
}

/* Prepares for a call that closes a range of descriptors. A descriptor that the program inherited but never
 * used gets its open file only when it is looked up. With unknown flags the kernel closes nothing. */
void posix_before_close_range(unsigned first, unsigned last, int flags)
{
    if (flags & ~(int)CLOSE_RANGE_UNSHARE || !iolens_owns_memory())
        return;
    for (unsigned fd = first; fd <= last && fd < FDS_GIVEN_MOST; fd++)
        if (fds_is_given((int)fd) || fds_is_followed((int)fd))
            (void)fds_sure((int)fd);
    connections_before_close_range(first, last);
    rings_leave_range(first, last);
}

void posix_on_close_range(const struct call *c, unsigned first, unsigned last, int flags)
{
    struct call one = *c;
    if (flags & CLOSE_RANGE_CLOEXEC || !iolens_owns_memory())
        return;
    for (unsigned fd = first; fd <= last && fd < (unsigned)iolens_fds.used; fd++)
        if ((one.taken = fds_take((int)fd)))
            posix_on_close(&one, 0);
    fds_forget((int)first, last > INT_MAX ? INT_MAX : (int)last);
}
