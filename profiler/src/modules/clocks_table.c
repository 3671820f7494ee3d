/* The table of the nodes' clocks; it has rows only if the nodes have different clocks. */
#include <math.h>

#include "../runtime/context.h"
#include "../tables/process_table.h"

#define NS_PER_SECOND 1e9

struct row {
    int64_t rank;
    char host[HOST_BYTES];
    double begin_offset, begin_uncertainty, end_offset, end_uncertainty;
};

static const struct column COLUMNS[] = {
    COLUMN(rank, "<i8", "rank", "the lowest rank that reads this clock"),
    TEXT(host, "S64", "host name of the rank's node", TEXT_NAME),
    COLUMN(begin_offset, "<f8", "s",
           "time by which this clock was ahead of rank 0's clock at the end of MPI_Init"),
    COLUMN(begin_uncertainty, "<f8", "s", "largest error of `begin_offset`, in either direction"),
    COLUMN(end_offset, "<f8", "s",
           "time by which this clock was ahead of rank 0's clock at the start of MPI_Finalize; NaN: not "
           "measured, because the process was killed"),
    COLUMN(end_uncertainty, "<f8", "s",
           "largest error of `end_offset`, in either direction; NaN: not measured"),
};

/* Collects this rank's row of `clocks`. Ranks for which there is no room have no row. */
static void collect(const struct iolens_transport *transport, struct buffer *rows)
{
    const struct clock_offsets *offsets = &iolens.offsets;
    if (offsets->clocks < 2 || !offsets->first || transport->rank >= tables_most_rows(false))
        return;
    struct row row = {
        .rank = transport->rank,
        .begin_offset = (double)offsets->begin.ns / NS_PER_SECOND,
        .begin_uncertainty = (double)offsets->begin.uncertainty_ns / NS_PER_SECOND,
        .end_offset = offsets->ended ? (double)offsets->end.ns / NS_PER_SECOND : NAN,
        .end_uncertainty = offsets->ended ? (double)offsets->end.uncertainty_ns / NS_PER_SECOND : NAN,
    };
    memcpy(row.host, iolens.identity.host, strnlen(iolens.identity.host, sizeof row.host));
    buffer_put(rows, &row, sizeof row);
}

const struct process_table table_clocks = {
    .name = "clocks",
    .meaning = "A clock that ranks read; the table exists only where the ranks of a job read different "
               "clocks. All times in the log are on rank 0's clock: times of another clock are corrected by "
               "its offset, which is interpolated between begin and end",
    TABLE_ROWS(COLUMNS),
    .merging.collect = collect,
};
