/* Finds the STDIO state of a stream's file. */
#ifndef IOLENS_STDIO_STATE_H
#define IOLENS_STDIO_STATE_H

#include "../../files/registry.h"
#include "../../runtime/wrap.h"
#include "../io_watch.h"
#include "../timer.h"
#include "stdio_record.h"
#include "streams.h"

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

#endif
