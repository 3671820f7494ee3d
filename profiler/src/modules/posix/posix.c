#include "posix.h"

#include <fcntl.h>
#include <linux/close_range.h>
#include <stdio.h>
#include <string.h>
#include <sys/statfs.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "../../system/hash.h"
#include "../../system/path_room.h"
#include "../../files/names.h"
#include "../timelines/dxt.h"
#include "../io_sites.h"
#include "../lustre/lustre.h"
#include "../stdio/streams.h"
#include "../timer.h"
#include "../timelines/traced_events.h"

enum { MEMORY_ALIGNMENT = 8, LUSTRE_MAGIC = 0x0BD00BD0, LUSTRE_BLOCK = 1024 * 1024 };

/* Of the folder: another process has just removed the file. */
static int ask_folder(const struct file *file, struct statfs *info)
{
    const char *slash = strrchr(file->path, '/');
    char *folder = slash ? path_room_take() : NULL;
    if (!folder)
        return -1;
    size_t length = (size_t)(slash - file->path) + 1;
    memcpy(folder, file->path, length);
    folder[length] = '\0';
    int result = statfs(folder, info);
    path_room_give(folder);
    return result;
}

/* Block size of the file system, which Darshan takes for the alignment; 1 MiB on Lustre, -1 for <STDIN> and
 * such. */
static int64_t file_alignment(const struct file *file, int fd)
{
    struct statfs info;
    if (file->path[0] == '<')
        return -1;
    if ((fd >= 0 ? fstatfs(fd, &info) : statfs(file->path, &info)) != 0 && ask_folder(file, &info) != 0)
        return -1;
    return info.f_type == LUSTRE_MAGIC ? LUSTRE_BLOCK : (int64_t)info.f_bsize;
}

static void posix_init(void *state, struct file *file, int fd)
{
    struct posix_state *s = state;
    s->record.base.id = file->id;
    s->record.ints[POSIX_MEM_ALIGNMENT] = MEMORY_ALIGNMENT;
    s->record.ints[POSIX_FILE_ALIGNMENT] = file_alignment(file, fd);
    s->dxt = dxt_of(file, MODULE_DXT_POSIX);
    frequent_start(&s->read_size);
    frequent_start(&s->stride);
    frequent_start(&s->write_size);
}

static bool posix_validate(const void *state, const struct area *area)
{
    const struct posix_state *s = state;
    return frequent_validate(&s->read_size, area) && frequent_validate(&s->write_size, area) &&
           frequent_validate(&s->stride, area);
}

static void posix_flush(const void *state)
{
    heat_flush(&((const struct posix_state *)state)->heat, HEATMAP_POSIX);
}

/* List 0: strides, list 1: sizes of reads and writes, as the shape has them. */
static void posix_keep(const void *state, int list, struct kept_values *kept)
{
    const struct posix_state *s = state;
    if (list == 0) {
        frequent_keep(&s->stride, kept);
        return;
    }
    frequent_keep(&s->read_size, kept);
    frequent_keep(&s->write_size, kept);
}

static void posix_finish(const void *state, void *record)
{
    const struct posix_state *s = state;
    int64_t *ints = ((struct posix_record *)record)->ints;
    frequent_top_of_both(&s->read_size, &s->write_size, &ints[POSIX_ACCESS1_ACCESS],
                         &ints[POSIX_ACCESS1_COUNT]);
    frequent_top(&s->stride, &ints[POSIX_STRIDE1_STRIDE], &ints[POSIX_STRIDE1_COUNT]);
}

/* On a striped file the stripe is the unit worth aligning to. The layout is asked for before the lock is
 * taken: a metadata server may take long to answer. */
static void use_layout(struct posix_state *s, struct file *file, int fd)
{
    int64_t stripe_size = lustre_on_open(file, fd);
    spin_lock(&s->lock);
    if (stripe_size > 0) {
        s->record.ints[POSIX_FILE_ALIGNMENT] = stripe_size;
        s->stripes = file->state[MODULE_LUSTRE];
    }
    spin_unlock(&s->lock);
}

struct posix_state *posix_state_new(struct open_file *open, int fd)
{
    struct file *file = fds_file(open);
    struct posix_state *s = file ? registry_state(file, MODULE_POSIX, fd) : NULL;
    if (s && fd >= 0)
        use_layout(s, file, fd);
    open->posix = s;
    return s;
}

/* The state behind fd with its lock held, or NULL. */
static struct posix_state *lock_fd(int fd)
{
    struct open_file *open = fds_find(fd);
    struct posix_state *s = open ? posix_state_of(open, fd) : NULL;
    if (s)
        spin_lock(&s->lock);
    return s;
}

static void add_meta(struct posix_state *s, const struct call *c)
{
    timer_add(&s->record.doubles[POSIX_F_META_TIME], &s->last_end[POSIX_META_END], c->t0, c->t1);
    io_sites_add(c, "POSIX", s->record.base.id, 0);
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

static void count_open(struct posix_state *s, const struct call *c)
{
    double *doubles = s->record.doubles;
    s->record.ints[POSIX_OPENS]++;
    timer_stamp(&doubles[POSIX_F_OPEN_START], &doubles[POSIX_F_OPEN_END], c->t0, c->t1);
    add_meta(s, c);
    add_event(s, TRACED_OPEN, c);
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

/* NULL unless the path was used before. */
static struct file *known_file(int dirfd, const char *path)
{
    char *absolute = path_room_take();
    bool found = absolute && path_absolute(absolute, dirfd, path);
    struct file *file = found ? names_find(absolute) : NULL;
    path_room_give(absolute);
    return file;
}

void posix_on_open(const struct call *c, int fd, int dirfd, const char *path, int flags, mode_t mode)
{
    if (fd < 0 || !iolens_owns_memory())
        return;
    struct file *file = opened_file(fd, dirfd, path);
    struct open_file *open = file ? fds_open(fd, file, flags & O_APPEND) : NULL;
    struct posix_state *s = open ? posix_state_of(open, fd) : NULL;
    if (!s) {
        if (!open || !iolens_paused())
            fds_forget(fd, fd);
        return;
    }
    spin_lock(&s->lock);
    if (mode)
        s->record.ints[POSIX_MODE] = mode;
    s->last_byte_read = s->last_byte_written = 0;
    count_open(s, c);
    spin_unlock(&s->lock);
}

void posix_on_dup(const struct call *c, int copy, int fd)
{
    struct open_file *open = fds_find(fd), *before = fds_find(copy);
    if (copy < 0 || (!open && !before) || !iolens_owns_memory())
        return;
    struct posix_state *s = open ? posix_state_of(open, fd) : NULL;
    if (s || (open && iolens_paused()))
        fds_duplicate(copy, open);
    else
        fds_forget(copy, copy);
    if (!s)
        return;
    spin_lock(&s->lock);
    s->record.ints[POSIX_DUPS]++;
    count_open(s, c);
    spin_unlock(&s->lock);
}

void posix_on_fileno(const struct call *c, int fd, FILE *stream)
{
    struct file *file = fd >= 0 ? streams_file(stream) : NULL;
    if (!file || !iolens_owns_memory())
        return;
    struct open_file *open = fds_find(fd);
    if (!open || open->file != file)
        open = fds_open(fd, file, false);
    if (open) {
        long flags = syscall(SYS_fcntl, fd, F_GETFL);
        open->append = flags > 0 && flags & O_APPEND;
        open->asks = true;
    }
    struct posix_state *s = open ? posix_state_of(open, fd) : NULL;
    if (!s)
        return;
    spin_lock(&s->lock);
    s->record.ints[POSIX_FILENOS]++;
    count_open(s, c);
    spin_unlock(&s->lock);
}

static void on_flags(int fd, intptr_t flags)
{
    struct open_file *open = fds_find(fd);
    if (!open)
        return;
    open->append = flags & O_APPEND;
    open->asks |= open->append;
}

void posix_on_fcntl(const struct call *c, int result, int fd, int command, intptr_t value)
{
    if (command == F_DUPFD || command == F_DUPFD_CLOEXEC)
        posix_on_dup(c, result, fd);
    else if (command == F_SETFL && result == 0)
        on_flags(fd, value);
}

void posix_on_seek(const struct call *c, int fd, int64_t offset)
{
    struct open_file *open = offset >= 0 ? fds_find(fd) : NULL;
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

void posix_on_fstat(const struct call *c, int fd)
{
    struct open_file *open = fds_find(fd);
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

void posix_on_mmap(int fd)
{
    struct posix_state *s = lock_fd(fd);
    if (!s)
        return;
    s->record.ints[POSIX_MMAPS]++;
    spin_unlock(&s->lock);
}

/* Darshan counts the time of a sync as time spent writing. */
void posix_on_sync(const struct call *c, int fd, enum posix_int counter)
{
    struct posix_state *s = lock_fd(fd);
    if (!s)
        return;
    s->record.ints[counter]++;
    timer_add(&s->record.doubles[POSIX_F_WRITE_TIME], &s->last_end[POSIX_WRITE_END], c->t0, c->t1);
    add_event(s, TRACED_SYNC, c);
    spin_unlock(&s->lock);
}

void posix_on_rename(const struct call *c, int olddir, const char *from, int newdir, const char *to)
{
    struct file *old = known_file(olddir, from);
    struct posix_state *source = old && !iolens_paused() ? old->state[MODULE_POSIX] : NULL;
    if (!source)
        return;
    count_meta(source, c, POSIX_RENAME_SOURCES);
    struct file *new = file_of(newdir, to, NAMES_LINK);
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
    struct open_file *open = fds_find(fd);
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

void posix_on_close_range(const struct call *c, unsigned first, unsigned last, int flags)
{
    struct call one = *c;
    if (flags & CLOSE_RANGE_CLOEXEC || !iolens_owns_memory())
        return;
    for (unsigned fd = first; fd <= last && fd < (unsigned)iolens_fds.used; fd++)
        if ((one.taken = fds_take((int)fd)))
            posix_on_close(&one, 0);
}

#define COUNTERS "profiler/src/modules/posix_counters.def"
#include "../merge_tables.h"

static const struct record_shape SHAPE = {
    .ints = POSIX_INTS,
    .doubles = POSIX_DOUBLES,
    .int_merge = INT_MERGE,
    .double_merge = DOUBLE_MERGE,
    .top = {POSIX_STRIDE1_STRIDE, POSIX_ACCESS1_ACCESS},
    .longest = {{POSIX_F_MAX_READ_TIME, POSIX_MAX_READ_TIME_SIZE},
                {POSIX_F_MAX_WRITE_TIME, POSIX_MAX_WRITE_TIME_SIZE}},
    .fastest = POSIX_FASTEST_RANK,
    .fastest_seconds = POSIX_F_FASTEST_RANK_TIME,
    .seconds = {POSIX_F_READ_TIME, POSIX_F_WRITE_TIME, POSIX_F_META_TIME},
    .bytes = {POSIX_BYTES_READ, POSIX_BYTES_WRITTEN},
};

const struct module module_POSIX = {
    .id = 1,
    .version = 4,
    .name = "POSIX",
    .state_bytes = sizeof(struct posix_state),
    .shape = &SHAPE,
    .reset = aio_reset,
    .init = posix_init,
    .validate = posix_validate,
    .flush = posix_flush,
    .finish = posix_finish,
    .keep = posix_keep,
};
