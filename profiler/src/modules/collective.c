#include "collective.h"

#include <math.h>
#include <stddef.h>

#include "../core/context.h"
#include "../core/shared.h"
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

static const struct collective_calls *calls_of(const struct file *file)
{
    return &((const struct iolens_mpiio_file *)file->state[MODULE_MPIIO])->collectives;
}

static void put_begins(const struct collective_calls *calls, struct buffer *begins)
{
    for (const struct collective_chunk *chunk = calls->first; chunk; chunk = chunk->next)
        for (int i = 0; i < chunk->used; i++)
            buffer_put(begins, &chunk->call[i].begin, sizeof(double));
}

/* Most and, negated, least calls that a rank made. */
struct counts {
    int64_t most, least;
};

static bool is_same(const struct counts *counts) { return counts->most == -counts->least; }

/* Room for the begins of all calls, taken before anybody counts on it. */
static bool reserve(struct buffer *begins)
{
    size_t calls = 0;
    for (struct file *file = shared_first(MODULE_MPIIO); file; file = shared_next(file, MODULE_MPIIO))
        calls += (size_t)calls_of(file)->count;
    bool enough = buffer_add(begins, calls * sizeof(double) + 1);
    begins->used = 0;
    return enough;
}

/* Collective. Of the files that all ranks share, in their order: how many calls the ranks made and have at
 * hand. */
static bool agree_counts(const struct iolens_transport *transport, bool at_hand, struct buffer *counts)
{
    for (struct file *file = shared_first(MODULE_MPIIO); file; file = shared_next(file, MODULE_MPIIO)) {
        int64_t count = at_hand ? calls_of(file)->count : -1;
        buffer_put(counts, &(struct counts){count, -count}, sizeof(struct counts));
    }
    size_t numbers = counts->used / sizeof(int64_t);
    return !counts->failed &&
           (numbers == 0 || transport->allreduce(counts->data, numbers, IOLENS_INT64, IOLENS_MAX) == 0);
}

/* Collective. When the last rank entered each call, one shared file behind the other, of those of which all
 * ranks made equally many calls. */
static bool latest_begins(const struct iolens_transport *transport, const struct counts *counts,
                          struct buffer *begins)
{
    for (struct file *file = shared_first(MODULE_MPIIO); file; file = shared_next(file, MODULE_MPIIO))
        if (is_same(counts++))
            put_begins(calls_of(file), begins);
    size_t numbers = begins->used / sizeof(double);
    return numbers == 0 || transport->allreduce(begins->data, numbers, IOLENS_DOUBLE, IOLENS_MAX) == 0;
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

static void put_row(struct buffer *rows, const struct file *file, int64_t rank, const double *latest)
{
    struct row row = row_of(calls_of(file), latest);
    row.file = file->id;
    row.rank = rank;
    if (row.calls > 0)
        buffer_put(rows, &row, sizeof row);
}

static void put_shared_rows(const struct iolens_transport *transport, struct buffer *rows)
{
    struct buffer counted = {0}, begins = {0};
    bool known = agree_counts(transport, reserve(&begins), &counted);
    const struct counts *counts = (const struct counts *)counted.data;
    known = known && latest_begins(transport, counts, &begins);
    const double *latest = (const double *)begins.data;
    for (struct file *file = shared_first(MODULE_MPIIO); file; file = shared_next(file, MODULE_MPIIO)) {
        bool same = known && is_same(counts++);
        put_row(rows, file, transport->rank, same ? latest : NULL);
        latest += same ? calls_of(file)->count : 0;
    }
    buffer_free(&counted);
    buffer_free(&begins);
}

/* A file that some ranks only opened has no calls on all of them in common: its waiting is not known. */
void collective_table_write(const struct iolens_transport *transport, struct buffer *out)
{
    struct buffer rows = {0};
    put_shared_rows(transport, &rows);
    for (struct file *file = registry_first(MODULE_MPIIO); file; file = registry_next(file, MODULE_MPIIO))
        if (!shared_by_all(file, MODULE_MPIIO))
            put_row(&rows, file, transport->rank, NULL);
    out->failed |= rows.failed;
    table_write(out, COLUMNS, sizeof COLUMNS / sizeof *COLUMNS, rows.data, sizeof(struct row),
                rows.used / sizeof(struct row));
    buffer_free(&rows);
}
