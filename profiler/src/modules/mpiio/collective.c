#include "../../runtime/context.h"
#include "mpiio.h"

static struct collective_chunk *chunk_with_room(struct collective_calls *calls)
{
    struct collective_chunk *chunk = calls->last;
    if (chunk && chunk->used < COLLECTIVE_CHUNK)
        return chunk;
    if (calls->chunks == COLLECTIVE_CHUNKS_MAX || !(chunk = arena_alloc(&iolens.arena, sizeof *chunk)))
        return NULL;
    *(calls->last ? &calls->last->next : &calls->first) = chunk;
    calls->last = chunk;
    calls->chunks++;
    return chunk;
}

void collective_add(struct collective_calls *calls, double t0, double t1, double access)
{
    struct collective_chunk *chunk = calls->missed ? NULL : chunk_with_room(calls);
    if (!chunk) {
        calls->missed++;
        return;
    }
    chunk->call[chunk->used++] = (struct collective_call){t0, t1 - t0, access};
    calls->count++;
}

/* Returns true if the list of calls in the spool is whole. Each chunk must lie after the previous one in
 * memory, so that a damaged list cannot be endless. */
bool collective_validate(const struct collective_calls *calls, const struct area *area)
{
    const struct collective_chunk *before = NULL;
    int64_t count = 0;
    for (const struct collective_chunk *chunk = calls->first; chunk; before = chunk, chunk = chunk->next) {
        if (chunk <= before || !area_holds(area, chunk, sizeof *chunk, 1) || chunk->used < 0 ||
            chunk->used > COLLECTIVE_CHUNK)
            return false;
        count += chunk->used;
    }
    return count == calls->count;
}

void collective_correct(struct collective_calls *calls, const struct timeline *line)
{
    for (struct collective_chunk *chunk = calls->first; chunk; chunk = chunk->next)
        for (int i = 0; i < chunk->used; i++) {
            struct collective_call *call = &chunk->call[i];
            call->begin = timeline_at(line, call->begin);
            call->seconds *= line->factor;
            call->access *= line->factor;
        }
}
