#include "../../ranks/reduce.h"
#include "../../tables/table_merge.h"
#include "posix.h"

static bool iolens_files_left_out;      /* True if files that some but not all ranks used were left out. */
static int64_t iolens_files_not_of_all; /* Number of files of this rank that are not shared by all ranks. */

struct row {
    uint64_t file;
    int64_t rank, ranks, opens, reads, writes, bytes_read, bytes_written, largest_write, common_write,
        common_write_count;
    int64_t largest_read, writes_not_aligned;
    double read_time, write_time, meta_time, first_write, last_write;
};

static const struct column COLUMNS[] = {
    MERGED(file, "<u8", "record id", "the file, by its id in the name region", COLUMN_KEY),
    MERGED(rank, "<i8", "rank",
           "the rank to which these numbers belong; -1: all ranks without a row of their own", COLUMN_RANK),
    MERGED(ranks, "<i8", "ranks", "number of ranks that the row sums", COLUMN_SUM),
    MERGED(opens, "<i8", "calls", "opens, including dup and fileno", COLUMN_SUM),
    MERGED(reads, "<i8", "calls", "number of reads", COLUMN_SUM),
    MERGED(writes, "<i8", "calls", "number of writes", COLUMN_SUM),
    MERGED(bytes_read, "<i8", "B", "bytes read", COLUMN_SUM),
    MERGED(bytes_written, "<i8", "B", "bytes written", COLUMN_SUM),
    MERGED(largest_write, "<i8", "B", "largest single write", COLUMN_LARGEST),
    COLUMN(common_write, "<i8", "B",
           "most common size of a write; 0 without writes, and in a row of several ranks"),
    COLUMN(common_write_count, "<i8", "calls", "writes of that size"),
    MERGED(largest_read, "<i8", "B", "largest single read", COLUMN_LARGEST),
    MERGED(writes_not_aligned, "<i8", "calls",
           "writes at an offset that is no multiple of POSIX_FILE_ALIGNMENT", COLUMN_SUM),
    MERGED(read_time, "<f8", "s", "time in reads, overlap counted once", COLUMN_SUM),
    MERGED(write_time, "<f8", "s", "time in writes and syncs, overlap counted once", COLUMN_SUM),
    MERGED(meta_time, "<f8", "s", "time in open, close, stat, seek, rename", COLUMN_SUM),
    MERGED(first_write, "<f8", "s", "start of the first write since the job began, 0: never",
           COLUMN_EARLIEST),
    MERGED(last_write, "<f8", "s", "end of the last write since the job began, 0: never", COLUMN_LARGEST),
};

static struct row row_of(const struct file *file, int64_t rank)
{
    const struct posix_state *s = file->state[MODULE_POSIX];
    struct posix_record record;
    reduce_record(file, MODULE_POSIX, rank, &record);
    const int64_t *ints = record.ints;
    const double *seconds = record.doubles;
    int64_t sizes[FREQUENT_TOP] = {0}, counts[FREQUENT_TOP] = {0};
    frequent_top(&s->write_size, sizes, counts);
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

/* Appends the rows of files that all ranks share: a row for each rank if there is room, else only rows of the
 * ranks that moved most bytes. */
static int put_shared(const struct iolens_transport *transport, int64_t most, struct buffer *rows)
{
    for (struct file *file = shared_first(MODULE_POSIX); file; file = shared_next(file, MODULE_POSIX))
        put_row(rows, file, transport->rank);
    int64_t files = (int64_t)(rows->used / sizeof(struct row));
    if (files * transport->size <= most)
        return 0;
    return table_keep_largest(TABLE_file_ranks, transport, most / files, rows);
}

static int put_common(const struct iolens_transport *transport, int64_t most, struct buffer *rows)
{
    struct buffer files = {0};
    int result = partially_shared_find(transport, MODULE_POSIX, iolens_files_not_of_all, most, &files,
                                       &iolens_files_left_out);
    struct file *const *file = (struct file *const *)files.data;
    for (size_t i = 0; i < files.used / sizeof *file; i++)
        put_row(rows, file[i], transport->rank);
    buffer_free(&files);
    return result;
}

static void count(int rank)
{
    (void)rank;
    iolens_files_not_of_all = partially_shared_candidates(MODULE_POSIX);
}

static void collect(const struct iolens_transport *transport, struct buffer *rows)
{
    int64_t most = tables_most_rows(transport->rank == 0);
    if (transport->size > 1 &&
        (put_shared(transport, most, rows) != 0 || put_common(transport, most, rows) != 0))
        rows->failed = true;
}

static const char *left_out(void)
{
    return iolens_files_left_out ? "Files that only some ranks used are more than the table `file_ranks` has "
                                   "rows, so some are missing there. Raise IOLENS_FILE_RANKS."
                                 : NULL;
}

const struct process_table table_file_ranks = {
    .name = "file_ranks",
    .meaning = "POSIX activity of one rank in a file that several ranks used",
    TABLE_ROWS(COLUMNS),
    .merging.count = count,
    .merging.sums = &iolens_files_not_of_all,
    .merging.sum_count = 1,
    .merging.collect = collect,
    .remarks.left_out = left_out,
    .merging.weighed_by = {"bytes_read", "bytes_written"},
};
