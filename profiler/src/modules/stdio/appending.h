/* Finds where bytes written to a stream in append mode land: at the end of the file when the stream's buffer
 * is flushed, whatever other processes have appended or cut off. So bytes are counted at the call that writes
 * them, and their place (highest byte, stripes) is determined when they leave the buffer. */
#ifndef IOLENS_APPENDING_H
#define IOLENS_APPENDING_H

#include <stdint.h>

#include "stdio_state.h"
#include "streams.h"

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
