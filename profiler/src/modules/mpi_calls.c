/* The rows of mpi_sites without the places that called: one for each function and region of a rank. */
#include <string.h>

#include "../runtime/context.h"
#include "../tables/process_table.h"
#include "../tables/table_merge.h"
#include "mpi_functions.h"
#include "mpi_sites.h"

struct row {
    int64_t rank;
    char function[48];
    uint32_t region;
    int64_t calls;
    double time, min_time, max_time, sync_time;
    int64_t bytes_sent, bytes_received, messages, size[MPI_SIZES], late_receives;
};

#define SIZE(class, meaning)                                                                                 \
    {                                                                                                        \
        "size_" #class, "<i8", "messages", meaning, offsetof(struct row, size[class]), sizeof(int64_t),      \
            COLUMN_SUM, TEXT_NONE                                                                            \
    }

static const struct column COLUMNS[] = {
    MERGED(rank, "<i8", "rank", "the rank that called; -1: several", COLUMN_RANK),
    {"function", "S48", "", "the function's name", offsetof(struct row, function), 48, COLUMN_KEY, TEXT_WORD},
    MERGED(region, "<u4", "region",
           "the region it was called in, a row of `region_names`; 0: none, 4294967295: several", COLUMN_KEY),
    MERGED(calls, "<i8", "calls", "calls that returned", COLUMN_SUM),
    MERGED(time, "<f8", "s", "time in them", COLUMN_SUM),
    MERGED(min_time, "<f8", "s", "shortest call", COLUMN_SMALLEST),
    MERGED(max_time, "<f8", "s", "longest call", COLUMN_LARGEST),
    MERGED(sync_time, "<f8", "s",
           "time in barriers in front of collective calls, which is not in `time`; with IOLENS_MPI_SYNC only",
           COLUMN_SUM),
    MERGED(bytes_sent, "<i8", "B", "bytes sent; of collective calls, what this rank contributed", COLUMN_SUM),
    MERGED(bytes_received, "<i8", "B", "bytes received, counted in the call that completed the receive",
           COLUMN_SUM),
    MERGED(messages, "<i8", "messages", "messages sent; contributions to collective calls", COLUMN_SUM),
    SIZE(0, "of these below 16 B"),
    SIZE(1, "from 16 B and below 256 B"),
    SIZE(2, "from 256 B and below 4 KiB"),
    SIZE(3, "from 4 KiB and below 64 KiB"),
    SIZE(4, "from 64 KiB and below 1 MiB"),
    SIZE(5, "from 1 MiB and below 16 MiB"),
    SIZE(6, "from 16 MiB on"),
    MERGED(late_receives, "<i8", "calls",
           "receives whose message was there before them; with IOLENS_LATE_RECEIVES only", COLUMN_SUM),
};

static void put_row(struct buffer *rows, struct keyed_row *found, int rank)
{
    const struct mpi_site_key *key = keyed_key(found);
    const struct mpi_site *site = mpi_site_of(found);
    double factor = iolens.timeline.factor;
    struct row row = {.rank = rank,
                      .region = key->region,
                      .calls = site->calls,
                      .time = site->time * factor,
                      .min_time = site->min_time * factor,
                      .max_time = site->max_time * factor,
                      .sync_time = site->sync * factor,
                      .bytes_sent = site->sent,
                      .bytes_received = site->received,
                      .messages = site->messages,
                      .late_receives = site->late};
    strcpy(row.function, mpi_function_name(key->function));
    memcpy(row.size, site->sizes, sizeof row.size);
    if (site->calls > 0)
        buffer_put(rows, &row, sizeof row);
}

static int64_t weight(const void *row) { return (int64_t)(((const struct row *)row)->time * 1e9); }

static size_t rest(void *given)
{
    struct row *row = given;
    row->rank = -1;
    row->region = UINT32_MAX;
    size_t function = 0;
    while (function < IOLENS_MPI_FUNCTIONS - 1 &&
           strcmp(mpi_function_name((uint32_t)function), row->function) != 0)
        function++;
    return function;
}

static void collect(const struct iolens_transport *transport, struct buffer *rows)
{
    struct keyed_row *row = mpi_sites_first(table_state_known(TABLE_mpi_sites));
    for (; row; row = keyed_next(row))
        put_row(rows, row, transport->rank);
    table_fold(process_tables[TABLE_mpi_calls], rows);
}

static int64_t most_rows(void) { return keyed_made(table_state_known(TABLE_mpi_sites)); }

const struct process_table table_mpi_calls = {
    .name = "mpi_calls",
    .meaning =
        "MPI calls of a rank by function and region, where MPI is traced (`IOLENS_TRACE=mpi`). When all "
        "ranks together have more rows than IOLENS_FILE_RANKS, those with the least time are one row for "
        "each function",
    TABLE_ROWS(COLUMNS),
    .collect = collect,
    .weight = weight,
    .rest = rest,
    .rest_slots = IOLENS_MPI_FUNCTIONS,
    .most_rows = most_rows,
};
