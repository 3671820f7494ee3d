/* Records bytes that streams move, and calls that set the position. */
#include "../../system/system_call.h"
#include "../lustre/lustre.h"
#include "stdio_state.h"

__attribute__((always_inline)) static inline void add_transfer(struct stdio_state *s, const struct call *c,
                                                               bool writing, int64_t bytes, int64_t end)
{
    int64_t *max_byte = &s->record.ints[writing ? STDIO_MAX_BYTE_WRITTEN : STDIO_MAX_BYTE_READ];
    double *doubles = s->record.doubles;
    s->record.ints[writing ? STDIO_BYTES_WRITTEN : STDIO_BYTES_READ] += bytes;
    if (end - 1 > *max_byte && bytes > 0) /* A read behind the end of the file reaches no byte of it. */
        *max_byte = end - 1;
    timer_stamp(&doubles[writing ? STDIO_F_WRITE_START : STDIO_F_READ_START],
                &doubles[writing ? STDIO_F_WRITE_END : STDIO_F_READ_END], c->t0, c->t1);
    heat_add(&s->heat, HEATMAP_STDIO, writing, bytes, c->t0, c->t1);
    timer_add(&doubles[writing ? STDIO_F_WRITE_TIME : STDIO_F_READ_TIME],
              &s->last_end[writing ? STDIO_WRITE_END : STDIO_READ_END], c->t0, c->t1);
    io_watch_call(c, "STDIO", s->record.base.id, bytes);
}

enum { NOWHERE = 0 }; /* End offset of a transfer that does not change the highest offset. */

/* Asks the stream for its position, after a call that may have moved it by another amount than was
 * counted. */
static void ask_position(struct stream *stream)
{
    off_t position = ftello(stream->handle);
    stream->offset = position >= 0 ? position : stream->offset;
}

/* Counts a write or a flush whose place in the file is known only when the bytes leave the buffer. It is
 * never inlined, because it would slow down the common transfers. */
__attribute__((noinline)) static void on_appending(const struct call *c, struct stream *stream,
                                                   enum stdio_int counter, int64_t bytes)
{
    /* Called before the file's lock is taken, because this call may take the stream's lock. */
    int64_t left = streams_held(stream->handle);
    struct stdio_state *s = stdio_lock(stream);
    if (!s)
        return;
    s->record.ints[counter]++;
    appending_wrote(stream, s, bytes, left);
    add_transfer(s, c, true, bytes, NOWHERE);
    spin_unlock(&s->lock);
}

static void on_transfer(const struct call *c, FILE *handle, enum stdio_int counter, int64_t bytes)
{
    struct stream *stream = streams_find(handle);
    if (stream && __builtin_expect(stream->append, 0) && counter != STDIO_READS) {
        on_appending(c, stream, counter, bytes);
        return;
    }
    struct stdio_state *s = stdio_lock(stream);
    if (!s)
        return;
    s->record.ints[counter]++;
    if (__builtin_expect(s->stripes != NULL, 0))
        lustre_on_transfer(s->stripes, -1, counter != STDIO_READS, stream->offset, bytes);
    stream->offset += bytes;
    add_transfer(s, c, counter != STDIO_READS, bytes, stream->offset);
    spin_unlock(&s->lock);
}

/* Counts a call that moved no bytes. Such a call never changes the highest byte, wherever the stream stands.
 */
__attribute__((noinline)) static void on_nothing(const struct call *c, FILE *handle, enum stdio_int counter)
{
    struct stream *stream = streams_find(handle);
    bool writes = counter != STDIO_READS;
    if (stream && stream->append && writes) {
        on_appending(c, stream, counter, 0);
        return;
    }
    struct stdio_state *s = stdio_lock(stream);
    if (!s)
        return;
    s->record.ints[counter]++;
    add_transfer(s, c, writes, 0, NOWHERE);
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

void stdio_on_text(const struct call *c, FILE *stream, int64_t bytes)
{
    if (__builtin_expect(bytes > 0, 1))
        on_transfer(c, stream, STDIO_WRITES, bytes);
    else
        on_nothing(c, stream, STDIO_WRITES);
}

static void on_left(struct stream *stream)
{
    struct stdio_state *s = stream->pending > 0 ? stdio_state_of(stream) : NULL;
    if (s)
        appending_left(stream, s, streams_held(stream->handle));
}

/* Notes that the buffered bytes of a stream have been written, after a flush of all streams. */
static void on_flushed(struct stream *stream)
{
    struct stdio_state *s = streams_has_descriptor(stream) ? stdio_state_of(stream) : NULL;
    if (s)
        appending_flushed(stream, s);
}

/* Counts a flush. As in Darshan, it counts as a write of 0 bytes, and a flush of all streams does not count.
 */
void stdio_on_flush(const struct call *c, FILE *stream)
{
    if (stream)
        on_nothing(c, stream, STDIO_FLUSHES);
    else
        streams_each_pending(on_flushed);
}

static off_t descriptor_position(const struct stream *stream)
{
    return system_call(SYS_lseek, stream->fd, 0L, SEEK_CUR);
}

static void note_position(struct stream *stream) { stream->offset = descriptor_position(stream); }

/* The C library throws away the bytes of a stream that it could not flush, and goes on to the next stream.
 * The bytes of a stream whose descriptor moved have been written. */
static void on_perhaps_flushed(struct stream *stream)
{
    if (descriptor_position(stream) == stream->offset)
        stream->pending = 0;
    else
        on_flushed(stream);
}

/* Calls a function for the stream, or for all streams, if the buffer held bytes after the last call. */
static void each_pending(FILE *handle, void (*work)(struct stream *stream))
{
    struct stream *stream = handle ? streams_find(handle) : NULL;
    if (!handle)
        streams_each_pending(work);
    else if (stream && stream->pending > 0)
        work(stream);
}

void stdio_before_flush(FILE *handle) { each_pending(handle, note_position); }

void stdio_on_failed_flush(FILE *handle) { each_pending(handle, on_perhaps_flushed); }

void stdio_on_seek(const struct call *c, FILE *handle, int result)
{
    struct stream *stream = streams_find(handle);
    if (stream) {
        /* The stream must be asked before the file's lock is taken, because asking takes the stream's lock.
         */
        ask_position(stream);
        on_left(stream);
    }
    struct stdio_state *s = stdio_lock(stream);
    if (!s)
        return;
    if (result == 0) {
        s->record.ints[STDIO_SEEKS]++;
        stdio_add_meta(s, c);
    }
    spin_unlock(&s->lock);
}

void stdio_on_drift(FILE *handle)
{
    struct stream *stream = streams_known(handle);
    if (!stream || !stdio_state_of(stream))
        return;
    ask_position(stream);
    on_left(stream);
}

void stdio_on_unget(FILE *handle, int64_t bytes)
{
    struct stream *stream = streams_known(handle);
    struct stdio_state *s = stdio_lock(stream);
    if (!s)
        return;
    stream->offset -= bytes;
    spin_unlock(&s->lock);
}

__attribute__((noinline)) static void on_fewer_items(const struct call *c, FILE *stream,
                                                     enum stdio_int counter, int64_t bytes)
{
    if (bytes > 0)
        on_transfer(c, stream, counter, bytes);
    stdio_on_drift(stream);
}

/* Counts a call that moved `done` of `asked` items. Both branches end in a call, so that the compiler needs
 * no stack frame in the usual case. */
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

int64_t stdio_bytes_since(FILE *handle)
{
    struct stream *stream = streams_known(handle);
    return stream ? ftello(handle) - stream->offset : 0;
}

/* Returns the length of a text that may itself contain zero bytes. The change of position tells how many
 * bytes were read, unless another thread or process moved the position, too. So it counts only if fgets can
 * have returned a text of that length. */
static int64_t length_with_zeros(FILE *stream, const char *string, int64_t before_zero, int room)
{
    int64_t read = stdio_bytes_since(stream);
    if (read <= before_zero || read >= room || string[read] != 0)
        return before_zero;
    bool complete = read == room - 1 || string[read - 1] == '\n' || feof(stream) || ferror(stream);
    return complete ? read : before_zero;
}

void stdio_on_string(const struct call *c, FILE *stream, const char *string, int room)
{
    int64_t bytes = string ? (int64_t)strlen(string) : 0;
    bool complete = string && (bytes >= room - 1 || (bytes > 0 && string[bytes - 1] == '\n'));
    if (string && !complete)
        bytes = length_with_zeros(stream, string, bytes, room);
    if (bytes > 0)
        stdio_on_read(c, stream, bytes);
    else if (string)
        on_nothing(c, stream, STDIO_READS);
    if (!complete)
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

void stdio_before_scan(struct call *c, FILE *stream) { c->mark = streams_find(stream) ? ftello(stream) : -1; }

void stdio_on_scan(const struct call *c, FILE *stream, int items)
{
    if (!streams_find(stream))
        return;
    off_t end = ftello(stream);
    if (items != 0 && end > c->mark)
        stdio_on_read(c, stream, end - c->mark);
    else if (items != 0)
        on_nothing(c, stream, STDIO_READS);
    stdio_on_drift(stream);
}
