#include "mpi_site_rows.h"

#include <string.h>

#include "../../callers/call_nodes.h"
#include "../../runtime/context.h"
#include "../../tables/table_merge.h"
#include "mpi_functions.h"

enum { ANY_NODE = -2 };

static const struct column COLUMNS[] = {
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

void mpi_site_rows(enum process_table_index table, int rank, struct buffer *rows)
{
    struct keyed_row *row = mpi_sites_first(table_state_known(TABLE_mpi_sites));
    for (; row; row = keyed_next(row))
        put_row(rows, row, rank);
    table_fold(process_tables[table], rows);
}

size_t mpi_site_rest(void *given)
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

static void collect(const struct iolens_transport *transport, struct buffer *rows)
{
    mpi_site_rows(TABLE_mpi_sites, transport->rank, rows);
}

const struct process_table table_mpi_sites = {
    .name = "mpi_sites",
    .meaning = "MPI calls of a rank by function, region and place of the call, where MPI is traced "
               "(`IOLENS_TRACE=mpi`). When all ranks together have more rows than IOLENS_FILE_RANKS, the "
               "rows with the least time are summed in one row for each function",
    TABLE_ROWS(COLUMNS),
    .recording.state_bytes = sizeof(struct keyed),
    .recording.keyed = &mpi_sites_shape,
    .recording.sound = mpi_site_is_sound,
    .recording.start = mpi_sites_start,
    .recording.end = mpi_sites_end,
    .merging.collect = collect,
    .merging.weighed_by = {"time"},
    .merging.rest = mpi_site_rest,
    .merging.rest_slots = IOLENS_MPI_FUNCTIONS,
};
