#include "times.h"

#include "../runtime/context.h"

int64_t sample_times_in(const struct sample_times_chunk *chunk)
{
    int64_t used = chunk->used;
    return used < TIMES_PER_CHUNK ? used : TIMES_PER_CHUNK;
}

/* Adds a chunk behind the `full` one and returns it. If two threads add a chunk at once, one chunk stays
 * unused. */
static struct sample_times_chunk *add_chunk(struct sample_times *times, struct sample_times_chunk *full)
{
    struct sample_times_chunk *fresh = arena_try_alloc(&iolens.arena, sizeof *fresh);
    if (!fresh)
        return NULL;
    fresh->older = full;
    return atomic_compare_exchange_strong(&times->newest, &full, fresh) ? fresh : full;
}

void sample_times_keep(struct sample_times *times, const struct sample_time *entry)
{
    if (!times)
        return;
    if (atomic_fetch_add(&times->kept, 1) >= times->most) {
        times->left_out++;
        return;
    }
    struct sample_times_chunk *chunk = times->newest;
    while (chunk || (chunk = add_chunk(times, NULL))) {
        int64_t at = atomic_fetch_add(&chunk->used, 1);
        if (at < TIMES_PER_CHUNK) {
            chunk->entry[at] = *entry;
            return;
        }
        chunk = add_chunk(times, chunk);
        if (!chunk)
            break;
    }
    times->left_out++;
}
