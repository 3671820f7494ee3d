#include "collective.h"

#include <math.h>
#include <stddef.h>

#include "../core/context.h"
#include "../core/table.h"
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

/* Chunks lie behind one another in memory, so that a list that ends cannot be a ring. */
bool collective_sound(const struct collective_calls *calls, const struct area *area)
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

struct row {
    uint64_t file;
    int64_t rank, calls, missed;
    double seconds, waiting, access, exchange;
};

static const struct column COLUMNS[] = {
    COLUMN(file, "<u8", "record id", "the file, as in the name region"),
    COLUMN(rank, "<i8", "rank", "the rank that these numbers are of"),
    COLUMN(calls, "<i8", "calls", "collective reads and writes that the times are of"),
    COLUMN(missed, "<i8", "calls", "later ones, for which there was no room"),
    COLUMN(seconds, "<f8", "s", "time in these calls"),
    COLUMN(waiting, "<f8", "s",
           "until the last rank had entered; NaN where ranks made different numbers of calls"),
    COLUMN(access, "<f8", "s", "POSIX time of this rank in the file meanwhile"),
    COLUMN(exchange, "<f8", "s", "the rest: exchange of data and bookkeeping; NaN where waiting is"),
};

/* Collective. Whether all ranks made equally many calls, and have them at hand. */
static bool same_count(const struct iolens_transport *transport, int64_t count)
{
    int64_t extremes[2] = {count, -count};
    return transport->allreduce(extremes, 2, IOLENS_INT64, IOLENS_MAX) == 0 && extremes[0] == -extremes[1];
}

/* Collective. When the last rank entered each call; NULL when that cannot be known. */
static const double *latest_begins(const struct iolens_transport *transport,
                                   const struct collective_calls *calls, struct buffer *begins)
{
    for (const struct collective_chunk *chunk = calls->first; chunk; chunk = chunk->next)
        for (int i = 0; i < chunk->used; i++)
            buffer_put(begins, &chunk->call[i].begin, sizeof(double));
    if (!same_count(transport, begins->failed ? -1 : calls->count) || calls->count == 0 || begins->failed)
        return NULL;
    bool good = transport->allreduce(begins->data, (size_t)calls->count, IOLENS_DOUBLE, IOLENS_MAX) == 0;
    return good ? (const double *)begins->data : NULL;
}

static struct row row_of(const struct collective_calls *calls, const double *latest)
{
    struct row row = {.calls = calls->count, .missed = calls->missed};
    int64_t index = 0;
    for (const struct collective_chunk *chunk = calls->first; chunk; chunk = chunk->next)
        for (int i = 0; i < chunk->used; i++, index++) {
            const struct collective_call *call = &chunk->call[i];
            double waited = latest ? latest[index] - call->begin : NAN;
            waited = waited > call->seconds ? call->seconds : waited < 0 ? 0 : waited;
            double rest = call->seconds - waited - call->access;
            row.seconds += call->seconds;
            row.waiting += waited;
            row.access += call->access;
            row.exchange += rest < 0 ? 0 : rest;
        }
    return row;
}

/* A file that some ranks only opened has no calls on all of them in common: its waiting is not known. */
void collective_table_write(const struct iolens_transport *transport, struct buffer *out)
{
    struct buffer rows = {0};
    for (int pass = 0; pass < 2; pass++) {
        struct file *file = pass ? iolens.registry.first : iolens.registry.shared[MODULE_MPIIO];
        for (; file; file = pass ? file->next : file->next_shared[MODULE_MPIIO]) {
            const struct iolens_mpiio_file *state = file->state[MODULE_MPIIO];
            bool shared = file->shared >> MODULE_MPIIO & 1;
            struct buffer begins = {0};
            if (!state || (pass && shared))
                continue;
            const double *latest = pass ? NULL : latest_begins(transport, &state->collectives, &begins);
            struct row row = row_of(&state->collectives, latest);
            row.file = file->id;
            row.rank = transport->rank;
            if (row.calls > 0)
                buffer_put(&rows, &row, sizeof row);
            buffer_free(&begins);
        }
    }
    out->failed |= rows.failed;
    table_write(out, COLUMNS, sizeof COLUMNS / sizeof *COLUMNS, rows.data, sizeof(struct row),
                rows.used / sizeof(struct row));
    buffer_free(&rows);
}
