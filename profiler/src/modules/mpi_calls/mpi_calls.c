/* The table mpi_calls: the rows of mpi_sites without call sites, one for each function and region of a
 * rank. */
#include "mpi_site_rows.h"

static const struct column COLUMNS[] = {
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

static void collect(const struct iolens_transport *transport, struct buffer *rows)
{
    mpi_site_rows(TABLE_mpi_calls, transport->rank, rows);
}

static int64_t most_rows(void) { return keyed_made(table_state_known(TABLE_mpi_sites)); }

const struct process_table table_mpi_calls = {
    .name = "mpi_calls",
    .meaning = "MPI calls of a rank by function and region, where MPI is traced (`IOLENS_TRACE=mpi`). When "
               "all ranks together have more rows than IOLENS_FILE_RANKS, the rows with the least time are "
               "summed in one row for each function",
    TABLE_ROWS(COLUMNS),
    .merging.collect = collect,
    .merging.weighed_by = {"time"},
    .merging.rest = mpi_site_rest,
    .merging.rest_slots = IOLENS_MPI_FUNCTIONS,
    .merging.most_rows = most_rows,
};
