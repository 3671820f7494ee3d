#include "../../ranks/reduce.h"
#include "../../tables/process_table.h"
#include "mpiio.h"

struct row {
    uint64_t file;
    int64_t rank, calls, missed;
    double seconds, waiting, access, exchange;
};

static const struct column COLUMNS[] = {
    COLUMN(file, "<u8", "record id", "the file, by its id in the name region"),
    COLUMN(rank, "<i8", "rank", "the rank to which these numbers belong"),
    COLUMN(calls, "<i8", "calls", "collective reads and writes whose times the row has"),
    COLUMN(missed, "<i8", "calls", "later collective calls, for whose times there was no room"),
    COLUMN(seconds, "<f8", "s", "time in the calls of this row"),
    COLUMN(waiting, "<f8", "s",
           "time until the last rank had entered the call; NaN where ranks made different numbers of calls"),
    COLUMN(access, "<f8", "s", "time of this rank's POSIX calls on the file during the collective calls"),
    COLUMN(exchange, "<f8", "s",
           "rest of the time: exchange of data between ranks, and bookkeeping; NaN where `waiting` is NaN"),
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

/* `most`: the largest number of calls that a rank made. `least`: the smallest number, negated, so that one
 * maximum over the ranks finds both. */
struct counts {
    int64_t most, least;
};

static bool is_same(const struct counts *counts) { return counts->most == -counts->least; }

/* Allocates the memory for the begins of all calls in advance, so that no rank can fail later, when other
 * ranks already rely on it. */
static bool reserve(struct buffer *begins)
{
    size_t calls = 0;
    for (struct file *file = shared_first(MODULE_MPIIO); file; file = shared_next(file, MODULE_MPIIO))
        calls += (size_t)calls_of(file)->count;
    bool enough = buffer_add(begins, calls * sizeof(double) + 1);
    begins->used = 0;
    return enough;
}

/* Finds, for each file that all ranks share, the largest and the smallest number of calls that any rank made
 * and kept in memory. Collective. */
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

/* Collective. Finds when the last rank entered each call, file after file. Only files with the same number of
 * calls on all ranks take part. */
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

/* Collects the rows of the files that all ranks share, and then those of files that only some ranks opened or
 * used. The latter have no call that is common to all ranks, so their waiting time is unknown. */
static void collect(const struct iolens_transport *transport, struct buffer *rows)
{
    put_shared_rows(transport, rows);
    for (struct file *file = registry_first(MODULE_MPIIO); file; file = registry_next(file, MODULE_MPIIO))
        if (!shared_by_all(file, MODULE_MPIIO))
            put_row(rows, file, transport->rank, NULL);
}

const struct process_table table_mpiio_collectives = {
    .name = "mpiio_collectives",
    .meaning = "Blocking collective reads and writes of a rank in a file, and where their time went",
    TABLE_ROWS(COLUMNS),
    .merging.collect = collect,
};
