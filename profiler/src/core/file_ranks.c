#include "file_ranks.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>

#include "../modules/posix.h"
#include "busiest.h"
#include "common_files.h"
#include "context.h"
#include "reduce.h"
#include "shared.h"
#include "table.h"

enum { DEFAULT_ROWS = 1000000, OTHERS = -1 };

struct row {
    uint64_t file;
    int64_t rank, ranks, opens, reads, writes, bytes_read, bytes_written, largest_write, common_write,
        common_write_count;
    int64_t largest_read, writes_not_aligned;
    double read_time, write_time, meta_time, first_write, last_write;
};

static const struct column COLUMNS[] = {
    COLUMN(file, "<u8", "record id", "the file, as in the name region"),
    COLUMN(rank, "<i8", "rank", "the rank that these numbers are of; -1: all that have no row of their own"),
    COLUMN(ranks, "<i8", "ranks", "how many ranks the row is the sum of"),
    COLUMN(opens, "<i8", "calls", "opens, dup and fileno included"),
    COLUMN(reads, "<i8", "calls", "reads"),
    COLUMN(writes, "<i8", "calls", "writes"),
    COLUMN(bytes_read, "<i8", "B", "bytes read"),
    COLUMN(bytes_written, "<i8", "B", "bytes written"),
    COLUMN(largest_write, "<i8", "B", "largest single write"),
    COLUMN(common_write, "<i8", "B",
           "most common size of a write; 0 without writes, and in a row of several ranks"),
    COLUMN(common_write_count, "<i8", "calls", "writes of that size"),
    COLUMN(largest_read, "<i8", "B", "largest single read"),
    COLUMN(writes_not_aligned, "<i8", "calls",
           "writes at an offset that is no multiple of POSIX_FILE_ALIGNMENT"),
    COLUMN(read_time, "<f8", "s", "time in reads, overlap counted once"),
    COLUMN(write_time, "<f8", "s", "time in writes and syncs, overlap counted once"),
    COLUMN(meta_time, "<f8", "s", "time in open, close, stat, seek, rename"),
    COLUMN(first_write, "<f8", "s", "begin of the first write since the job began, 0: never"),
    COLUMN(last_write, "<f8", "s", "end of the last write since the job began, 0: never"),
};

static struct row row_of(const struct file *file, int64_t rank)
{
    const struct posix_state *s = file->state[MODULE_POSIX];
    struct posix_record record;
    reduce_record(file, MODULE_POSIX, rank, &record);
    const int64_t *ints = record.ints;
    const double *seconds = record.doubles;
    int64_t sizes[SKETCH_TOP] = {0}, counts[SKETCH_TOP] = {0};
    sketch_top(&s->write_size, sizes, counts);
    return (struct row){
        .file = file->id,
        .rank = rank,
        .ranks = 1,
        .opens = ints[POSIX_OPENS],
        .reads = ints[POSIX_READS],
        .writes = ints[POSIX_WRITES],
        .bytes_read = ints[POSIX_BYTES_READ],
        .bytes_written = ints[POSIX_BYTES_WRITTEN],
        .largest_write = s->largest[1],
        .common_write = sizes[0],
        .common_write_count = counts[0],
        .largest_read = s->largest[0],
        .writes_not_aligned = s->writes_not_aligned,
        .read_time = seconds[POSIX_F_READ_TIME],
        .write_time = seconds[POSIX_F_WRITE_TIME],
        .meta_time = seconds[POSIX_F_META_TIME],
        .first_write = seconds[POSIX_F_WRITE_START],
        .last_write = seconds[POSIX_F_WRITE_END],
    };
}

static void put_row(struct buffer *rows, const struct file *file, int64_t rank)
{
    struct row row = row_of(file, rank);
    buffer_put(rows, &row, sizeof row);
}

static double earliest(double a, double b) { return a == 0 || (b != 0 && b < a) ? b : a; }
static double latest(double a, double b) { return a > b ? a : b; }
static int64_t larger(int64_t a, int64_t b) { return a > b ? a : b; }

static void combine_rows(const void *in, void *inout)
{
    const struct row *a = in;
    struct row *b = inout;
    if (a->ranks == 0)
        return;
    if (b->ranks == 0) {
        *b = *a;
        return;
    }
    b->ranks += a->ranks;
    b->opens += a->opens;
    b->reads += a->reads;
    b->writes += a->writes;
    b->bytes_read += a->bytes_read;
    b->bytes_written += a->bytes_written;
    b->largest_write = larger(a->largest_write, b->largest_write);
    b->largest_read = larger(a->largest_read, b->largest_read);
    b->writes_not_aligned += a->writes_not_aligned;
    b->read_time += a->read_time;
    b->write_time += a->write_time;
    b->meta_time += a->meta_time;
    b->first_write = earliest(a->first_write, b->first_write);
    b->last_write = latest(a->last_write, b->last_write);
}

/* Collective. Rows of this rank where it is among the `most` that moved most bytes of a file; on rank 0 also
 * the sum of all others'. */
static int put_busiest(const struct iolens_transport *transport, int64_t most, struct buffer *rows)
{
    struct buffer weights = {0}, choices = {0}, rest = {0};
    for (struct file *file = shared_first(MODULE_POSIX); file; file = shared_next(file, MODULE_POSIX)) {
        struct row row = row_of(file, OTHERS);
        buffer_put(&weights, &(int64_t){row.bytes_read + row.bytes_written}, sizeof(int64_t));
        row.common_write = row.common_write_count = 0;
        buffer_put(&rest, &row, sizeof row);
    }
    size_t count = weights.used / sizeof(int64_t), i = 0;
    bool *chosen = buffer_add(&choices, count);
    int result = weights.failed || rest.failed || !chosen ? -1 : 0;
    if (result == 0)
        result = busiest_choose(transport, (const int64_t *)weights.data, count, most, chosen);
    struct row *row = (struct row *)rest.data;
    for (struct file *file = shared_first(MODULE_POSIX); result == 0 && file;
         file = shared_next(file, MODULE_POSIX), i++) {
        row[i].ranks = !chosen[i];
        if (chosen[i])
            put_row(rows, file, transport->rank);
    }
    if (result == 0)
        result = transport->reduce_records(row, sizeof *row, count, combine_rows);
    for (i = 0; result == 0 && transport->rank == 0 && i < count; i++)
        if (row[i].ranks > 0)
            buffer_put(rows, &row[i], sizeof *row);
    buffer_free(&weights);
    buffer_free(&choices);
    buffer_free(&rest);
    return result;
}

/* Files that all ranks share: a row of each rank while there is room. */
static int put_shared(const struct iolens_transport *transport, int64_t most, struct buffer *rows)
{
    int64_t files = 0;
    for (struct file *file = shared_first(MODULE_POSIX); file; file = shared_next(file, MODULE_POSIX))
        files++;
    if (files * transport->size > most)
        return put_busiest(transport, most / files, rows);
    for (struct file *file = shared_first(MODULE_POSIX); file; file = shared_next(file, MODULE_POSIX))
        put_row(rows, file, transport->rank);
    return 0;
}

static int put_common(const struct iolens_transport *transport, int64_t most, struct buffer *rows)
{
    struct buffer files = {0};
    int result = common_files_find(transport, most, &files, &iolens.common_left_out);
    struct file *const *file = (struct file *const *)files.data;
    for (size_t i = 0; i < files.used / sizeof *file; i++)
        put_row(rows, file[i], transport->rank);
    buffer_free(&files);
    return result;
}

static int64_t most_rows(bool speaks)
{
    char *end;
    errno = 0;
    long long rows = strtoll(iolens.settings.file_ranks, &end, 10);
    if (rows > 0 && errno == 0 && *end == '\0')
        return rows;
    if (speaks)
        iolens_say("IOLENS_FILE_RANKS=%s is not a positive number of rows; %d is used",
                   iolens.settings.file_ranks, DEFAULT_ROWS);
    return DEFAULT_ROWS;
}

void file_ranks_write(const struct iolens_transport *transport, struct buffer *out)
{
    struct buffer rows = {0};
    int64_t most = most_rows(transport->rank == 0);
    if (transport->size > 1 &&
        (put_shared(transport, most, &rows) != 0 || put_common(transport, most, &rows) != 0))
        out->failed = true;
    out->failed |= rows.failed;
    table_write(out, COLUMNS, sizeof COLUMNS / sizeof *COLUMNS, rows.data, sizeof(struct row),
                rows.used / sizeof(struct row));
    buffer_free(&rows);
}
