#include "stdio_module.h"

#include <fcntl.h>
#include <stdio_ext.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "../../files/fds.h"
#include "../../files/names.h"
#include "../../files/registry.h"
#include "../../system/path_room.h"
#include "appending.h"
#include "../io_sites.h"
#include "../lustre/lustre.h"
#include "stdio_record.h"
#include "streams.h"
#include "../timer.h"

enum { READ_END, WRITE_END, META_END };
enum { WORTH_A_LOG = 4096 }; /* bytes that a standard stream moves to or from a file */

static void stdio_init(void *state, struct file *file, int fd)
{
    struct stdio_state *s = state;
    (void)fd;
    if (file->path[0] == '<')
        s->record.ints[STDIO_OPENS] = 1; /* the standard streams come open */
}

/* What `sort <in >out` moves is all that it does; a line of greeting is not worth a log. */
static bool stdio_matters(const void *state, const struct file *file)
{
    const int64_t *ints = ((const struct stdio_state *)state)->record.ints;
    return ints[STDIO_BYTES_READ] + ints[STDIO_BYTES_WRITTEN] >= WORTH_A_LOG &&
           streams_is_redirected(file->path);
}

static void stdio_flush(const void *state)
{
    heat_flush(&((const struct stdio_state *)state)->heat, HEATMAP_STDIO);
}

static inline struct stdio_state *state_of(struct stream *stream)
{
    void *state = stream->stdio;
    struct file *file = state ? NULL : streams_own(stream);
    if (file)
        stream->stdio = state = registry_state(file, MODULE_STDIO, -1);
    return state;
}

/* The state behind a recorded stream with its lock held, or NULL. */
__attribute__((always_inline)) static inline struct stdio_state *lock_stream(struct stream *stream)
{
    struct stdio_state *s = stream ? state_of(stream) : NULL;
    if (s)
        spin_lock(&s->lock);
    return s;
}

static void add_meta(struct stdio_state *s, const struct call *c)
{
    timer_add(&s->record.doubles[STDIO_F_META_TIME], &s->last_end[META_END], c->t0, c->t1);
    io_sites_add(c, "STDIO", s->record.base.id, 0);
}

static void count_open(struct stream *stream, const struct call *c, bool append, bool fdopened)
{
    if (stream)
        stream->append = append;
    struct stdio_state *s = lock_stream(stream);
    if (!s)
        return;
    double *doubles = s->record.doubles;
    s->stripes = stream->file->state[MODULE_LUSTRE];
    s->record.ints[STDIO_OPENS]++;
    s->record.ints[STDIO_FDOPENS] += fdopened;
    timer_stamp(&doubles[STDIO_F_OPEN_START], &doubles[STDIO_F_OPEN_END], c->t0, c->t1);
    add_meta(s, c);
    spin_unlock(&s->lock);
}

static struct file *opened_file(FILE *stream, const char *path)
{
    char *absolute = path_room_take();
    bool found = absolute && path_absolute(absolute, AT_FDCWD, path);
    struct file *file = found ? names_open(absolute, fileno_unlocked(stream)) : NULL;
    path_room_give(absolute);
    return file;
}

void stdio_on_fopen(const struct call *c, FILE *stream, const char *path, const char *mode)
{
    if (!stream || !path || !iolens_owns_memory())
        return;
    struct file *file = opened_file(stream, path);
    if (!file) {
        streams_forget(stream);
        return;
    }
    lustre_on_open(file, fileno_unlocked(stream));
    count_open(streams_open(stream, file, 0), c, mode[0] == 'a', false);
}

void stdio_on_fdopen(const struct call *c, FILE *stream, int fd, const char *mode)
{
    struct open_file *open = stream && iolens_owns_memory() ? fds_find(fd) : NULL;
    struct file *file = open ? fds_file(open) : NULL;
    if (!file)
        return;
    open->append |= mode[0] == 'a';
    open->asks = true;
    off_t position = syscall(SYS_lseek, fd, 0L, SEEK_CUR);
    count_open(streams_open(stream, file, position > 0 ? position : 0), c, open->append, true);
}

__attribute__((always_inline)) static inline void add_transfer(struct stdio_state *s, const struct call *c,
                                                               bool writing, int64_t bytes, int64_t end)
{
    int64_t *max_byte = &s->record.ints[writing ? STDIO_MAX_BYTE_WRITTEN : STDIO_MAX_BYTE_READ];
    double *doubles = s->record.doubles;
    s->record.ints[writing ? STDIO_BYTES_WRITTEN : STDIO_BYTES_READ] += bytes;
    if (end - 1 > *max_byte)
        *max_byte = end - 1;
    timer_stamp(&doubles[writing ? STDIO_F_WRITE_START : STDIO_F_READ_START],
                &doubles[writing ? STDIO_F_WRITE_END : STDIO_F_READ_END], c->t0, c->t1);
    heat_add(&s->heat, HEATMAP_STDIO, writing, bytes, c->t0, c->t1);
    timer_add(&doubles[writing ? STDIO_F_WRITE_TIME : STDIO_F_READ_TIME],
              &s->last_end[writing ? WRITE_END : READ_END], c->t0, c->t1);
    io_sites_add(c, "STDIO", s->record.base.id, bytes);
}

/* Ask the stream for its position, after a call that may have moved it by more or less than was counted. */
static void ask_position(struct stream *stream)
{
    off_t position = ftello(stream->handle);
    stream->offset = position >= 0 ? position : stream->offset;
}

/* A write or a flush, whose place is known when the bytes have left the buffer. Never inlined: in the
 * function for all transfers it would make the common ones slower. */
__attribute__((noinline)) static void on_appending(const struct call *c, struct stream *stream,
                                                   enum stdio_int counter, int64_t bytes)
{
    bool flushes = counter == STDIO_FLUSHES;
    if (flushes && stream->pending == 0)
        ask_position(stream); /* before the lock is taken: this takes the stream's own */
    struct stdio_state *s = lock_stream(stream);
    if (!s)
        return;
    s->record.ints[counter]++;
    appending_wrote(stream, s, bytes);
    add_transfer(s, c, true, bytes, flushes ? stream->offset : 0);
    spin_unlock(&s->lock);
}

static void on_transfer(const struct call *c, FILE *handle, enum stdio_int counter, int64_t bytes)
{
    struct stream *stream = streams_find(handle);
    if (stream && __builtin_expect(stream->append, 0) && counter != STDIO_READS) {
        on_appending(c, stream, counter, bytes);
        return;
    }
    struct stdio_state *s = lock_stream(stream);
    if (!s)
        return;
    s->record.ints[counter]++;
    if (__builtin_expect(s->stripes != NULL, 0))
        lustre_on_transfer(s->stripes, -1, counter != STDIO_READS, stream->offset, bytes);
    stream->offset += bytes;
    add_transfer(s, c, counter != STDIO_READS, bytes, stream->offset);
    spin_unlock(&s->lock);
}

void stdio_on_read(const struct call *c, FILE *stream, int64_t bytes)
{
    on_transfer(c, stream, STDIO_READS, bytes);
}

void stdio_on_write(const struct call *c, FILE *stream, int64_t bytes)
{
    on_transfer(c, stream, STDIO_WRITES, bytes);
}

static void on_left(struct stream *stream)
{
    struct stdio_state *s = stream->pending > 0 ? state_of(stream) : NULL;
    if (s)
        appending_left(stream, s, (int64_t)__fpending(stream->handle));
}

/* Not when another file is known by its descriptor: then the stream is gone. */
static bool has_descriptor(struct stream *stream)
{
    struct open_file *open = fds_find(stream->fd);
    return !open || fds_file(open) == streams_own(stream);
}

/* All that was in the buffers has left them. */
static void on_flushed(struct stream *stream)
{
    struct stdio_state *s = has_descriptor(stream) ? state_of(stream) : NULL;
    if (s)
        appending_left(stream, s, 0);
}

/* Darshan counts a flush as a write of no bytes, that of all streams not at all. */
void stdio_on_flush(const struct call *c, FILE *stream)
{
    if (stream)
        on_transfer(c, stream, STDIO_FLUSHES, 0);
    else
        streams_each_pending(on_flushed);
}

static void on_close(struct stream *stream)
{
    struct stdio_state *s = stream->pending > 0 ? state_of(stream) : NULL;
    if (s)
        appending_ends(stream, s, (int64_t)__fpending(stream->handle));
}

/* What was in the buffer at the last call is what the C library will still write. */
static void on_end(struct stream *stream)
{
    struct stdio_state *s = has_descriptor(stream) ? state_of(stream) : NULL;
    if (s)
        appending_ends(stream, s, stream->pending);
}

static void stdio_end(void) { streams_each_pending(on_end); }

void stdio_on_seek(const struct call *c, FILE *handle, int result)
{
    struct stream *stream = streams_find(handle);
    if (stream) {
        ask_position(stream); /* before the lock is taken: this takes the stream's own */
        on_left(stream);
    }
    struct stdio_state *s = lock_stream(stream);
    if (!s)
        return;
    if (result == 0) {
        s->record.ints[STDIO_SEEKS]++;
        add_meta(s, c);
    }
    spin_unlock(&s->lock);
}

void stdio_on_drift(FILE *handle)
{
    struct stream *stream = streams_known(handle);
    if (!stream || !state_of(stream))
        return;
    ask_position(stream);
    on_left(stream);
}

void stdio_on_unget(FILE *handle)
{
    struct stream *stream = streams_known(handle);
    struct stdio_state *s = lock_stream(stream);
    if (!s)
        return;
    stream->offset--;
    spin_unlock(&s->lock);
}

__attribute__((noinline)) static void on_fewer_items(const struct call *c, FILE *stream,
                                                     enum stdio_int counter, int64_t bytes)
{
    if (bytes > 0)
        on_transfer(c, stream, counter, bytes);
    stdio_on_drift(stream);
}

/* Each way ends in a call, so that the usual one needs no frame. */
static inline void on_items(const struct call *c, FILE *stream, enum stdio_int counter, size_t size,
                            size_t asked, size_t done)
{
    if (__builtin_expect(done < asked, 0))
        on_fewer_items(c, stream, counter, (int64_t)(size * done));
    else if (done > 0)
        on_transfer(c, stream, counter, (int64_t)(size * done));
}

void stdio_on_items_read(const struct call *c, FILE *stream, size_t size, size_t asked, size_t done)
{
    on_items(c, stream, STDIO_READS, size, asked, done);
}

void stdio_on_items_written(const struct call *c, FILE *stream, size_t size, size_t asked, size_t done)
{
    on_items(c, stream, STDIO_WRITES, size, asked, done);
}

void stdio_on_string(const struct call *c, FILE *stream, const char *string, int room)
{
    int64_t bytes = string ? (int64_t)strlen(string) : 0;
    if (string)
        stdio_on_read(c, stream, bytes);
    if (bytes < room - 1 && (bytes == 0 || string[bytes - 1] != '\n'))
        stdio_on_drift(stream);
}

void stdio_on_line(const struct call *c, FILE *stream, ssize_t bytes)
{
    if (bytes > 0)
        stdio_on_read(c, stream, bytes);
    else
        stdio_on_drift(stream);
}

void stdio_on_letter(const struct call *c, FILE *stream, int letter)
{
    if (letter != EOF)
        stdio_on_read(c, stream, 1);
    else
        stdio_on_drift(stream);
}

void stdio_on_word(const struct call *c, FILE *stream, int word)
{
    if (word != EOF || !(feof(stream) || ferror(stream)))
        stdio_on_read(c, stream, sizeof(int));
    else
        stdio_on_drift(stream);
}

void stdio_before_close(struct call *c, FILE *handle)
{
    struct stream *stream = streams_known(handle);
    if (!handle || !iolens_owns_memory())
        return;
    int fd = fileno_unlocked(handle);
    fds_forget(fd, fd);
    if (!stream)
        return;
    on_close(stream);
    if ((c->taken = state_of(stream)))
        lustre_on_close(stream->file, fd);
    streams_forget(handle);
}

void stdio_on_close(const struct call *c)
{
    struct stdio_state *s = c->taken;
    if (!s)
        return;
    double *doubles = s->record.doubles;
    spin_lock(&s->lock);
    timer_stamp(&doubles[STDIO_F_CLOSE_START], &doubles[STDIO_F_CLOSE_END], c->t0, c->t1);
    add_meta(s, c);
    spin_unlock(&s->lock);
}

/* Without a path the stream stays with its file, and only its mode changes. */
void stdio_before_reopen(FILE *handle, const char *path)
{
    if (!handle || !iolens_owns_memory())
        return;
    int fd = fileno_unlocked(handle);
    struct stream *stream = streams_known(handle);
    if (stream)
        on_close(stream);
    fds_forget(fd, fd);
    if (path)
        streams_forget(handle);
}

void stdio_before_scan(struct call *c, FILE *stream) { c->mark = streams_find(stream) ? ftello(stream) : -1; }

void stdio_on_scan(const struct call *c, FILE *stream, int items)
{
    if (!streams_find(stream))
        return;
    off_t end = ftello(stream);
    if (items != 0)
        stdio_on_read(c, stream, end > c->mark ? end - c->mark : 0);
    stdio_on_drift(stream);
}

#define COUNTERS "profiler/src/modules/stdio/stdio_counters.def"
#include "../merge_tables.h"

static const struct record_shape SHAPE = {
    .ints = STDIO_INTS,
    .doubles = STDIO_DOUBLES,
    .int_merge = INT_MERGE,
    .double_merge = DOUBLE_MERGE,
    .top = {SHAPE_NONE, SHAPE_NONE},
    .longest = {{SHAPE_NONE, SHAPE_NONE}, {SHAPE_NONE, SHAPE_NONE}},
    .fastest = STDIO_FASTEST_RANK,
    .fastest_seconds = STDIO_F_FASTEST_RANK_TIME,
    .seconds = {STDIO_F_READ_TIME, STDIO_F_WRITE_TIME, STDIO_F_META_TIME},
    .bytes = {STDIO_BYTES_READ, STDIO_BYTES_WRITTEN},
};

const struct module module_STDIO = {
    .id = 9,
    .version = 2,
    .name = "STDIO",
    .state_bytes = sizeof(struct stdio_state),
    .shape = &SHAPE,
    .reset = streams_reset,
    .init = stdio_init,
    .flush = stdio_flush,
    .matters = stdio_matters,
    .start = streams_start,
    .end = stdio_end,
};
