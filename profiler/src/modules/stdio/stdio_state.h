/* Finds the STDIO state of a stream's file. */
#ifndef IOLENS_STDIO_STATE_H
#define IOLENS_STDIO_STATE_H

#include <wchar.h>

#include "../../files/registry.h"
#include "../../records/shape.h"
#include "../../runtime/wrap.h"
#include "../../system/spin.h"
#include "../io_watch.h"
#include "../timelines/heatmap.h"
#include "../timer.h"
#include "streams.h"

struct lustre_state;

enum stdio_int {
#define INT(name, merge) STDIO_##name,
#define DOUBLE(name, merge)
#include "stdio_counters.def"
#undef INT
#undef DOUBLE
    STDIO_INTS
};

enum stdio_double {
#define INT(name, merge)
#define DOUBLE(name, merge) STDIO_F_##name,
#include "stdio_counters.def"
#undef INT
#undef DOUBLE
    STDIO_DOUBLES
};

struct stdio_record {
    struct record_base base;
    int64_t ints[STDIO_INTS];
    double doubles[STDIO_DOUBLES];
};

_Static_assert(sizeof(struct stdio_record) == 248,
               "struct stdio_record must have 248 bytes, as Darshan's version 2");

struct stdio_state {
    struct stdio_record record;
    struct spin lock;
    struct lustre_state *stripes; /* Stripes of the file; NULL if it has no layout. */
    double last_end[3];           /* End of the latest read, write and metadata operation. */
    struct heat heat;
};

/* Indices of `last_end` in the state of a file. */
enum { STDIO_READ_END, STDIO_WRITE_END, STDIO_META_END };

/* Returns the state of a stream's file; NULL if the file is not recorded. */
static inline struct stdio_state *stdio_state_of(struct stream *stream)
{
    void *state = stream->stdio;
    struct file *file = state ? NULL : streams_own(stream);
    if (file) {
        registry_note_place(file, stream->fd);
        stream->stdio = state = registry_state(file, MODULE_STDIO, -1);
    }
    return state;
}

/* Returns a recorded stream's state with its lock held, or NULL. */
__attribute__((always_inline)) static inline struct stdio_state *stdio_lock(struct stream *stream)
{
    struct stdio_state *s = stream ? stdio_state_of(stream) : NULL;
    if (s)
        spin_lock(&s->lock);
    return s;
}

static inline void stdio_add_meta(struct stdio_state *s, const struct call *c)
{
    timer_add(&s->record.doubles[STDIO_F_META_TIME], &s->last_end[STDIO_META_END], c->t0, c->t1);
    io_watch_call(c, "STDIO", s->record.base.id, 0);
}

void stdio_on_fopen(const struct call *c, FILE *stream, const char *path, const char *mode);
void stdio_on_tmpfile(const struct call *c, FILE *stream);
void stdio_on_fdopen(const struct call *c, FILE *stream, int fd, const char *mode);
void stdio_on_read(const struct call *c, FILE *stream, int64_t bytes);
void stdio_on_write(const struct call *c, FILE *stream, int64_t bytes);
void stdio_on_text(const struct call *c, FILE *stream, int64_t bytes);

/* A NULL stream means all streams. */
void stdio_before_flush(FILE *stream);
void stdio_on_flush(const struct call *c, FILE *stream);
void stdio_on_failed_flush(FILE *stream);

/* Counts the `done` items that were moved completely. The position may show that part of a further item was
 * moved, too. */
void stdio_on_items_read(const struct call *c, FILE *stream, size_t size, size_t asked, size_t done);
void stdio_on_items_written(const struct call *c, FILE *stream, size_t size, size_t asked, size_t done);
/* Counts the bytes that fgets read into `room` bytes. Bytes behind a zero byte count only if the change of
 * position shows them, which it does not in a pipe or if the program moved the descriptor itself. */
void stdio_on_string(const struct call *c, FILE *stream, const char *string, int room);
/* Counts the bytes that getline and fgetc returned. */
void stdio_on_line(const struct call *c, FILE *stream, ssize_t bytes);
void stdio_on_letter(const struct call *c, FILE *stream, int letter);
void stdio_on_word(const struct call *c, FILE *stream, int word); /* Counts the word that getw returned. */
void stdio_on_unget(FILE *stream, int64_t bytes);
/* Returns by how many bytes the stream's position has moved since the last counted call; a number below 0 if
 * it has no position. */
int64_t stdio_bytes_since(FILE *stream);
/* Updates the position without counting a call; a read of 0 bytes may have flushed the buffer. */
void stdio_on_drift(FILE *stream);
/* Counts a seek; even a failed one may have flushed the buffer. */
void stdio_on_seek(const struct call *c, FILE *stream, int result);

/* Counts wide characters as the bytes that encode them in the calling thread's locale. */
void stdio_on_wide_letter_read(const struct call *c, FILE *stream, wint_t letter);
void stdio_on_wide_letter_written(const struct call *c, FILE *stream, wint_t letter);
void stdio_on_wide_string(const struct call *c, FILE *stream, const wchar_t *string, int room);
void stdio_on_wide_text(const struct call *c, FILE *stream, const wchar_t *text);
void stdio_before_wide_print(struct call *c, FILE *stream, const wchar_t *format, va_list list);
void stdio_on_wide_print(const struct call *c, FILE *stream, int letters);
void stdio_on_wide_unget(FILE *stream, wint_t letter);

/* Removes the stream and its descriptor before the real call closes or reopens them. */
void stdio_before_close(struct call *c, FILE *stream);
void stdio_on_close(const struct call *c);
void stdio_before_reopen(struct call *c, FILE *stream);
void stdio_on_reopen(const struct call *c, FILE *stream, const char *path, const char *mode);

/* Notes the position before a formatted read, because only the change of position shows how much was read. */
void stdio_before_scan(struct call *c, FILE *stream);
void stdio_on_scan(const struct call *c, FILE *stream, int items);

/* Finds where bytes written to a stream in append mode land: at the end of the file when the stream's buffer
 * is flushed, whatever other processes have appended or cut off. So bytes are counted at the call that writes
 * them, and their place (highest byte, stripes) is determined when they leave the buffer. */

/* Notes where bytes landed. Called with the state's lock held, right after a call that wrote `bytes` to the
 * stream or flushed it; `left` bytes are still in its buffer. */
void appending_wrote(struct stream *stream, struct stdio_state *s, int64_t bytes, int64_t left);

/* Notes where bytes landed after a call that may have flushed the stream and changed its position; `left`
 * bytes are still in its buffer. */
void appending_left(struct stream *stream, struct stdio_state *s, int64_t left);

/* Notes where bytes landed after a flush of all streams, which moved this stream's descriptor behind its
 * bytes. */
void appending_flushed(struct stream *stream, struct stdio_state *s);

/* Notes where the `left` bytes in the buffer will land when the stream is closed, which flushes them. Called
 * before the close. */
void appending_ends(struct stream *stream, struct stdio_state *s, int64_t left);

/* Forgets the predicted ends of files. Called before appending_exits is called for the first stream. */
void appending_begin_exit(void);

/* Notes where the `left` bytes in the buffer will land when the process ends. Called before that, for each
 * stream that holds bytes, in the order in which the C library will flush the streams. Each flush may move
 * the end of the file, where the next stream's bytes land. */
void appending_exits(struct stream *stream, struct stdio_state *s, int64_t left);

#endif
