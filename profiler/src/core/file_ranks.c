#include "file_ranks.h"

#include <stdint.h>
#include <stdlib.h>

#include "../modules/posix.h"
#include "context.h"
#include "shared.h"
#include "table.h"

struct row {
    uint64_t file;
    int64_t rank, opens, reads, writes, bytes_read, bytes_written, largest_write, common_write,
        common_write_count;
    int64_t largest_read, writes_not_aligned;
    double read_time, write_time, meta_time, first_write, last_write;
};

static const struct column COLUMNS[] = {
    COLUMN(file, "<u8", "record id", "the file, as in the name region"),
    COLUMN(rank, "<i8", "rank", "the rank that these numbers are of"),
    COLUMN(opens, "<i8", "calls", "opens, dup and fileno included"),
    COLUMN(reads, "<i8", "calls", "reads"),
    COLUMN(writes, "<i8", "calls", "writes"),
    COLUMN(bytes_read, "<i8", "B", "bytes read"),
    COLUMN(bytes_written, "<i8", "B", "bytes written"),
    COLUMN(largest_write, "<i8", "B", "largest single write"),
    COLUMN(common_write, "<i8", "B", "most common size of a write, 0 without writes"),
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

enum { SLOTS_PER_FILE = 4, LEAST_SLOTS = 1024, MOST_SLOTS = 1 << 20 };

static size_t slot_of(uint64_t id, size_t slots) { return id % slots; }

/* Whether other ranks used the file is not known yet. */
static bool is_open_question(const struct file *file)
{
    return file->state[MODULE_POSIX] && !shared_by_all(file, MODULE_POSIX);
}

/* How many ranks put a file into each slot of a table of counters, so that most files of one rank alone are
 * known without telling everybody their names. */
static int count_slots(const struct iolens_transport *transport, struct buffer *slots, size_t *count)
{
    int64_t files = 0;
    for (struct file *file = iolens.registry.first; file; file = file->next)
        files += is_open_question(file);
    if (transport->allreduce(&files, 1, IOLENS_INT64, IOLENS_SUM) != 0)
        return -1;
    *count = LEAST_SLOTS;
    while (*count < MOST_SLOTS && (int64_t)*count < SLOTS_PER_FILE * files)
        *count *= 2;
    int64_t *used = buffer_add(slots, *count * sizeof *used);
    if (!used)
        return -1;
    for (struct file *file = iolens.registry.first; file; file = file->next)
        if (is_open_question(file))
            used[slot_of(file->id, *count)]++;
    return transport->allreduce(used, *count, IOLENS_INT64, IOLENS_SUM);
}

/* Files of this rank whose slot other ranks used as well. */
static void list_candidates(const struct buffer *slots, size_t count, struct buffer *ids)
{
    const int64_t *used = (const int64_t *)slots->data;
    struct buffer own = {0};
    int64_t *mine = buffer_add(&own, count * sizeof *mine);
    for (struct file *file = iolens.registry.first; mine && file; file = file->next)
        if (is_open_question(file))
            mine[slot_of(file->id, count)]++;
    for (struct file *file = iolens.registry.first; mine && file; file = file->next) {
        size_t slot = slot_of(file->id, count);
        if (is_open_question(file) && used[slot] > mine[slot])
            buffer_put(ids, &file->id, sizeof file->id);
    }
    buffer_free(&own);
}

static int compare_ids(const void *a, const void *b)
{
    uint64_t left = *(const uint64_t *)a, right = *(const uint64_t *)b;
    return (left > right) - (left < right);
}

/* Sort, keep one of each id that occurs more than once (0 is padding). Returns how many. */
static size_t keep_repeated(uint64_t *ids, size_t count)
{
    size_t kept = 0;
    qsort(ids, count, sizeof *ids, compare_ids);
    for (size_t i = 1; i < count; i++)
        if (ids[i] != 0 && ids[i] == ids[i - 1] && (kept == 0 || ids[kept - 1] != ids[i]))
            ids[kept++] = ids[i];
    return kept;
}

/* Collective. On all ranks: the sorted ids of the files that several ranks used, but not all. */
static int find_common(const struct iolens_transport *transport, struct buffer *candidates,
                       struct buffer *common)
{
    int64_t most = (int64_t)(candidates->used / sizeof(uint64_t));
    if (transport->allreduce(&most, 1, IOLENS_INT64, IOLENS_MAX) != 0)
        return -1;
    size_t bytes = (size_t)most * sizeof(uint64_t);
    if (bytes == 0)
        return 0;
    buffer_add(candidates, bytes - candidates->used);
    if (transport->rank == 0)
        buffer_add(common, bytes * (size_t)transport->size);
    if (candidates->failed || common->failed || transport->gather(candidates->data, bytes, common->data) != 0)
        return -1;
    if (transport->rank == 0)
        common->used =
            sizeof(uint64_t) * keep_repeated((uint64_t *)common->data, common->used / sizeof(uint64_t));
    uint64_t used = common->used;
    if (transport->bcast(&used, sizeof used, 0) != 0)
        return -1;
    if (transport->rank != 0)
        buffer_add(common, used);
    return used == 0 ? 0 : common->failed ? -1 : transport->bcast(common->data, used, 0);
}

static struct row row_of(const struct file *file, int64_t rank)
{
    const struct posix_state *s = file->state[MODULE_POSIX];
    const int64_t *ints = s->record.ints;
    const double *seconds = s->record.doubles;
    int64_t sizes[SKETCH_TOP] = {0}, counts[SKETCH_TOP] = {0};
    sketch_top(&s->write_size, sizes, counts);
    return (struct row){
        .file = file->id,
        .rank = rank,
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

void file_ranks_write(const struct iolens_transport *transport, struct buffer *out)
{
    struct buffer slots = {0}, candidates = {0}, common = {0}, rows = {0};
    size_t count = 0;
    if (transport->size > 1 && count_slots(transport, &slots, &count) == 0) {
        list_candidates(&slots, count, &candidates);
        if (find_common(transport, &candidates, &common) != 0)
            out->failed = true;
    }
    for (struct file *file = iolens.registry.first; file; file = file->next) {
        if (shared_by_all(file, MODULE_POSIX) ||
            (common.used && is_open_question(file) &&
             bsearch(&file->id, common.data, common.used / sizeof(uint64_t), sizeof(uint64_t),
                     compare_ids))) {
            struct row row = row_of(file, transport->rank);
            buffer_put(&rows, &row, sizeof row);
        }
    }
    table_write(out, COLUMNS, sizeof COLUMNS / sizeof *COLUMNS, rows.data, sizeof(struct row),
                rows.used / sizeof(struct row));
    buffer_free(&slots);
    buffer_free(&candidates);
    buffer_free(&common);
    buffer_free(&rows);
}
