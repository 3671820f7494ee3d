/* Where the bytes land that a stream opened for appending is given: at the file's end of the moment when the
 * stream's buffer is flushed, whatever others have written or cut off by then. So they are counted when they
 * are given, and placed (highest byte, stripes) when they have left the buffer. */
#ifndef IOLENS_APPENDING_H
#define IOLENS_APPENDING_H

#include <stdint.h>

#include "stdio_record.h"
#include "streams.h"

/* Called with the state's lock held, right behind a call that gave the stream `bytes`, or flushed it, and
 * that left so many bytes in its buffer. */
void appending_wrote(struct stream *stream, struct stdio_state *s, int64_t bytes, int64_t left);

/* Behind a call that may have flushed the stream and moved on; so many bytes are left in its buffer. */
void appending_left(struct stream *stream, struct stdio_state *s, int64_t left);

/* Behind a flush of all streams, which left this one's descriptor behind its bytes. */
void appending_flushed(struct stream *stream, struct stdio_state *s);

/* Before the stream is closed: that flushes what is left in its buffer. */
void appending_ends(struct stream *stream, struct stdio_state *s, int64_t left);

/* Before the process ends, when the C library flushes all streams: called for each stream that holds bytes,
 * appending or not, in that order. Each flush may move the end of the file, where the bytes of the next one
 * land. */
void appending_exits(struct stream *stream, struct stdio_state *s, int64_t left);

#endif
