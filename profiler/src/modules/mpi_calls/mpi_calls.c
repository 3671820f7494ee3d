/* Makes rows of the log from the counts of MPI calls: mpi_sites has a row for each place that called,
 * mpi_calls one for all places together. */
#include "mpi_calls.h"

#include "../../callers/call_nodes.h"
#include "../../runtime/context.h"
#include "../../tables/table_merge.h"

struct row {
    int64_t rank;
    char function[48];
    uint32_t region;
    int32_t node;
    int64_t calls;
    double time, min_time, max_time, sync_time, recording;
    int64_t bytes_sent, bytes_received, messages, size[MPI_SIZES], late_receives;
};

/* Columns that mpi_sites and mpi_calls both have. */
#define MPI_WHO                                                                                              \
    MERGED(rank, "<i8", "rank", "the rank that called; -1: several ranks", COLUMN_RANK),                     \
        {"function", "S48",      "",       "name of the function", offsetof(struct row, function),           \
         48,         COLUMN_KEY, TEXT_WORD},                                                                 \
        MERGED(region, "<u4", "region",                                                                      \
               "the region of the call, a row of `region_names`; 0: outside all regions, 4294967295: "       \
               "several regions",                                                                            \
               COLUMN_KEY)
#define MPI_TIMES                                                                                            \
    MERGED(calls, "<i8", "calls", "calls that returned", COLUMN_SUM),                                        \
        MERGED(time, "<f8", "s", "time in these calls", COLUMN_SUM),                                         \
        MERGED(min_time, "<f8", "s", "shortest call", COLUMN_SMALLEST),                                      \
        MERGED(max_time, "<f8", "s", "longest call", COLUMN_LARGEST)
#define MPI_SIZE(class, meaning)                                                                             \
    {                                                                                                        \
        "size_" #class, "<i8", "messages", meaning, offsetof(struct row, size[class]), sizeof(int64_t),      \
            COLUMN_SUM, TEXT_NONE                                                                            \
    }
#define MPI_MESSAGES                                                                                         \
    MERGED(bytes_sent, "<i8", "B", "bytes sent; for collective calls, bytes that this rank contributed",     \
           COLUMN_SUM),                                                                                      \
        MERGED(bytes_received, "<i8", "B", "bytes received, counted in the call that completed the receive", \
               COLUMN_SUM),                                                                                  \
        MERGED(messages, "<i8", "messages",                                                                  \
               "messages sent, messages fetched from windows, and contributions to collective calls",        \
               COLUMN_SUM),                                                                                  \
        MPI_SIZE(0, "messages below 16 B"), MPI_SIZE(1, "messages from 16 B and below 256 B"),               \
        MPI_SIZE(2, "messages from 256 B and below 4 KiB"),                                                  \
        MPI_SIZE(3, "messages from 4 KiB and below 64 KiB"),                                                 \
        MPI_SIZE(4, "messages from 64 KiB and below 1 MiB"),                                                 \
        MPI_SIZE(5, "messages from 1 MiB and below 16 MiB"), MPI_SIZE(6, "messages from 16 MiB on")

enum { ANY_NODE = -2 };

static const struct column SITE_COLUMNS[] = {
    MPI_WHO,
    MERGED(node, "<i4", "node",
           "the place of the call, a row of `call_nodes`; -1: not recorded, -2: all places without a row of "
           "their own",
           COLUMN_KEY),
    MPI_TIMES,
    MPI_MESSAGES,
};

static void put_row(struct buffer *rows, struct keyed_row *found, int rank)
{
    const struct mpi_site_key *key = keyed_key(found);
    const struct mpi_site *site = mpi_site_of(found);
    double factor = iolens.timeline.factor;
    struct row row = {.rank = rank,
                      .region = key->region,
                      .node = call_node_written(key->node),
                      .calls = site->calls,
                      .time = site->time * factor,
                      .min_time = site->min_time * factor,
                      .max_time = site->max_time * factor,
                      .sync_time = site->sync * factor,
                      .recording = mpi_sites_recording(site->calls) * factor,
                      .bytes_sent = site->sent,
                      .bytes_received = site->received,
                      .messages = site->messages,
                      .late_receives = site->late};
    strcpy(row.function, mpi_function_name(key->function));
    memcpy(row.size, site->sizes, sizeof row.size);
    if (site->calls > 0)
        buffer_put(rows, &row, sizeof row);
}

/* Appends a row for each MPI call site of a rank; rows that agree in all key columns are merged. */
static void mpi_site_rows(enum process_table_index table, int rank, struct buffer *rows)
{
    struct keyed_row *row = mpi_sites_first(table_state_known(TABLE_mpi_sites));
    for (; row; row = keyed_next(row))
        put_row(rows, row, rank);
    table_fold(process_tables[table], rows);
}

/* Makes a row stand for all ranks, regions and places that called its function. Both tables use it as their
 * hook `rest`. */
static size_t mpi_site_rest(void *given)
{
    struct row *row = given;
    size_t function = 0;
    row->rank = -1;
    row->region = UINT32_MAX;
    row->node = ANY_NODE;
    while (function < IOLENS_MPI_FUNCTIONS - 1 &&
           strcmp(mpi_function_name((uint32_t)function), row->function) != 0)
        function++;
    return function;
}

static void collect_sites(const struct iolens_transport *transport, struct buffer *rows)
{
    mpi_site_rows(TABLE_mpi_sites, transport->rank, rows);
}

const struct process_table table_mpi_sites = {
    .name = "mpi_sites",
    .meaning = "MPI calls of a rank by function, region and place of the call, where MPI is traced "
               "(`IOLENS_TRACE=mpi`). When all ranks together have more rows than IOLENS_FILE_RANKS, the "
               "rows with the least time are summed in one row for each function",
    TABLE_ROWS(SITE_COLUMNS),
    .recording.state_bytes = sizeof(struct keyed),
    .recording.keyed = &mpi_sites_shape,
    .recording.sound = mpi_site_is_sound,
    .recording.start = mpi_sites_start,
    .recording.end = mpi_sites_end,
    .merging.collect = collect_sites,
    .merging.weighed_by = {"time"},
    .merging.rest = mpi_site_rest,
    .merging.rest_slots = IOLENS_MPI_FUNCTIONS,
};

static const struct column CALL_COLUMNS[] = {
    MPI_WHO,
    MPI_TIMES,
    MERGED(sync_time, "<f8", "s",
           "time in the profiler's barriers before collective calls, which `time` does not include; 0 "
           "without IOLENS_MPI_SYNC",
           COLUMN_SUM),
    MPI_MESSAGES,
    MERGED(late_receives, "<i8", "calls",
           "receives that were called after their message had arrived; 0 without IOLENS_LATE_RECEIVES",
           COLUMN_SUM),
    MERGED(recording, "<f8", "s",
           "lower bound of the time that recording these calls took: their number times the shortest "
           "measured time of recording one without its messages; NaN: not measured, because the process "
           "was killed or IOLENS_CALLERS is above 1",
           COLUMN_SUM),
};

static void collect_calls(const struct iolens_transport *transport, struct buffer *rows)
{
    mpi_site_rows(TABLE_mpi_calls, transport->rank, rows);
}

static int64_t most_rows(void) { return keyed_made(table_state_known(TABLE_mpi_sites)); }

const struct process_table table_mpi_calls = {
    .name = "mpi_calls",
    .meaning = "MPI calls of a rank by function and region, where MPI is traced (`IOLENS_TRACE=mpi`). When "
               "all ranks together have more rows than IOLENS_FILE_RANKS, the rows with the least time are "
               "summed in one row for each function",
    TABLE_ROWS(CALL_COLUMNS),
    .merging.collect = collect_calls,
    .merging.weighed_by = {"time"},
    .merging.rest = mpi_site_rest,
    .merging.rest_slots = IOLENS_MPI_FUNCTIONS,
    .merging.most_rows = most_rows,
};
