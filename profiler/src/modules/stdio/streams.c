#include "streams.h"

#include <stdio_ext.h>
#include <wchar.h>

#include "../../files/fds.h"
#include "../../runtime/context.h"
#include "../../system/hash.h"
#include "../../system/system_call.h"

static struct streams iolens_streams;

/* Functions of glibc that no header declares, with which its list of streams is walked; NULL in other C
 * libraries. */
void _IO_list_lock(void) __attribute__((weak));
void _IO_list_unlock(void) __attribute__((weak));
FILE *_IO_iter_begin(void) __attribute__((weak));
FILE *_IO_iter_next(FILE *) __attribute__((weak));

static _Atomic(struct stream *) *bucket_of(FILE *handle)
{
    uintptr_t address = (uintptr_t)handle;
    return &iolens_streams.buckets[(address >> 4 ^ address >> 12) % STREAM_BUCKETS];
}

static struct stream *find_in(struct stream *first, FILE *handle)
{
    while (first && first->handle != handle)
        first = first->next;
    return first;
}

static struct stream *find(FILE *handle) { return find_in(*bucket_of(handle), handle); }

/* Darshan's names of the standard streams, by descriptor. */
static const char *const standard_names[] = {"<STDIN>", "<STDOUT>", "<STDERR>"};

static const char *standard_name(FILE *handle)
{
    int fd = handle == stdin ? STDIN_FILENO : handle == stdout ? STDOUT_FILENO : STDERR_FILENO;
    return fd != STDERR_FILENO || handle == stderr ? standard_names[fd] : NULL;
}

void streams_start(void)
{
    struct stat info;
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++) {
        iolens_streams.redirected[fd] = file_info_fd(fd, &info) == 0 && S_ISREG(info.st_mode);
        iolens_streams.id[fd] = record_id(standard_names[fd], strlen(standard_names[fd]));
    }
}

/* Returns the descriptor of the standard stream with this record id, or -1. */
static int standard_descriptor(uint64_t id)
{
    int fd = STDERR_FILENO;
    while (fd >= 0 && iolens_streams.id[fd] != id)
        fd--;
    return fd;
}

bool streams_is_no_file(uint64_t id)
{
    int fd = standard_descriptor(id);
    return fd >= 0 && !iolens_streams.redirected[fd];
}

bool streams_is_redirected(const char *name)
{
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
        if (iolens_streams.redirected[fd] && strcmp(name, standard_names[fd]) == 0)
            return true;
    return false;
}

struct stream *streams_known(FILE *handle) { return handle ? find(handle) : NULL; }

/* Returns the open file that the program itself has opened for a standard stream, as a shell does for the
 * output of its own commands. Returns NULL for a file that it inherited: such a stream has Darshan's name. */
static struct open_file *opened_for(int fd)
{
    bool replaced = fd >= 0 && fd <= STDERR_FILENO && iolens_streams.replaced[fd];
    struct open_file *open = replaced ? fds_sure(fd) : NULL;
    return open && !open->inherited ? open : NULL;
}

/* Adds a standard stream at its first use, or after its descriptor was given another file. */
static struct stream *add_standard(FILE *handle, const char *name)
{
    int fd = fileno_unlocked(handle);
    struct open_file *open = opened_for(fd);
    struct file *file = open ? fds_file(open) : registry_file(name);
    bool has_name = !open && fd >= 0 && fd <= STDERR_FILENO;
    off_t position = open       ? system_call(SYS_lseek, fd, 0L, SEEK_CUR)
                     : has_name ? iolens_streams.moved[fd]
                                : 0;
    struct stream *stream = file ? streams_open(handle, file, position > 0 ? position : 0) : NULL;
    if (stream && open)
        stream->append = open->append;
    fds_stream(fd);
    return stream;
}

struct stream *streams_find(FILE *handle)
{
    struct stream *stream = streams_known(handle);
    const char *name = stream ? NULL : standard_name(handle);
    return name && handle ? add_standard(handle, name) : stream;
}

void streams_replaced(int fd)
{
    FILE *const standard[] = {stdin, stdout, stderr};
    if (fd < 0 || fd > STDERR_FILENO)
        return;
    iolens_streams.replaced[fd] = true;
    struct stream *stream = streams_known(standard[fd]);
    if (!stream || fileno_unlocked(standard[fd]) != fd)
        return;
    if (stream->file->id == iolens_streams.id[fd])
        iolens_streams.moved[fd] = stream->offset;
    stream->handle = NULL;
}

struct stream *streams_open(FILE *handle, struct file *file, int64_t offset)
{
    _Atomic(struct stream *) *bucket = bucket_of(handle);
    spin_lock(&iolens_streams.lock);
    struct stream *stream = find(handle), *fresh = NULL;
    if (!stream)
        stream = find_in(*bucket, NULL);
    if (!stream)
        stream = fresh = arena_alloc_lines(&iolens.scratch, sizeof *stream);
    if (stream) {
        stream->file = file;
        stream->stdio = NULL;
        stream->offset = offset;
        stream->fd = fileno_unlocked(handle);
        stream->append = false;
        stream->pending = 0;
        stream->handle = handle;
    }
    if (fresh) {
        fresh->next = *bucket;
        *bucket = fresh;
    }
    spin_unlock(&iolens_streams.lock);
    return stream;
}

void streams_forget(FILE *handle)
{
    struct stream *stream = find(handle);
    if (stream)
        stream->handle = NULL;
}

struct file *streams_own(struct stream *stream)
{
    struct file *file = registry_own(stream->file);
    if (file)
        stream->file = file;
    return file;
}

struct file *streams_file(FILE *handle)
{
    struct stream *stream = streams_find(handle);
    return stream ? streams_own(stream) : NULL;
}

void streams_forget_states(void)
{
    for (int i = 0; i < STREAM_BUCKETS; i++)
        for (struct stream *stream = iolens_streams.buckets[i]; stream; stream = stream->next)
            stream->stdio = NULL;
}

/* Returns the bytes in the buffer of a wide stream, for which __fpending counts characters. These bytes lie
 * between the descriptor's position and the stream's position. If another thread uses the stream, the
 * stream's lock is not waited for, and each character counts as one byte. */
static int64_t wide_held(FILE *handle, int64_t letters)
{
    if (letters == 0 || ftrylockfile(handle) != 0)
        return letters;
    off_t end = ftello(handle), begin = system_call(SYS_lseek, fileno_unlocked(handle), 0L, SEEK_CUR);
    funlockfile(handle);
    return begin >= 0 && end >= begin ? end - begin : letters;
}

int64_t streams_held(FILE *handle)
{
    int64_t held = (int64_t)__fpending(handle);
    return __builtin_expect(fwide(handle, 0) > 0, 0) ? wide_held(handle, held) : held;
}

/* Walks the C library's own list of streams while it is locked, so that no stream is closed. */
void streams_each_open(void (*work)(struct stream *stream, int64_t left))
{
    if (!_IO_list_lock || !_IO_iter_begin || !_IO_iter_next || !_IO_list_unlock)
        return;
    _IO_list_lock();
    for (FILE *open = _IO_iter_begin(); open; open = _IO_iter_next(open)) {
        struct stream *stream = find(open);
        if (stream)
            work(stream, streams_held(open));
    }
    _IO_list_unlock();
}

static void mark_listed(struct stream *stream, int64_t left)
{
    (void)left;
    stream->listed = true;
}

/* Reads the positions of all open streams. This happens after the C library's list of streams is unlocked,
 * because reading a position may have to wait for another thread's call on the stream. */
void streams_ask_offsets(void)
{
    streams_each_open(mark_listed);
    for (int i = 0; i < STREAM_BUCKETS; i++)
        for (struct stream *stream = iolens_streams.buckets[i]; stream; stream = stream->next) {
            FILE *handle = stream->listed ? stream->handle : NULL;
            stream->listed = false;
            off_t offset = handle ? ftello(handle) : -1;
            if (offset >= 0)
                stream->offset = offset;
            if (handle && stream->append)
                stream->pending = streams_held(handle);
        }
}

void streams_each_pending(void (*work)(struct stream *stream))
{
    for (int i = 0; i < STREAM_BUCKETS; i++)
        for (struct stream *stream = iolens_streams.buckets[i]; stream; stream = stream->next)
            if (stream->handle && stream->pending > 0)
                work(stream);
}

bool streams_any_pending(void)
{
    for (int i = 0; i < STREAM_BUCKETS; i++)
        for (struct stream *stream = iolens_streams.buckets[i]; stream; stream = stream->next)
            if (stream->handle && stream->pending > 0)
                return true;
    return false;
}

/* Forgets the bytes in a stream's buffer: they belong to no record from now on. */
static void forget_pending(struct stream *stream) { stream->pending = 0; }

void streams_reset(void)
{
    iolens_streams.lock = (struct spin){ATOMIC_FLAG_INIT};
    streams_forget_states();
    streams_each_pending(forget_pending);
}

bool streams_has_descriptor(struct stream *stream)
{
    /* The kernel is not asked: it names the file as it is called now, perhaps after a rename. */
    struct open_file *open = fds_is_followed(stream->fd) ? fds_find(stream->fd) : NULL;
    struct file *own = streams_own(stream);
    /* The descriptor of a standard stream has the name of a file, and the stream's record has Darshan's. */
    return !open || fds_file(open) == own || (own && standard_descriptor(own->id) >= 0);
}
