/* The private region of the log about rings of io_uring. */
#include "../../runtime/context.h"
#include "../../tables/process_table.h"
#include "rings.h"

struct row {
    int64_t rank, values[RING_COUNTS];
};

static const struct column COLUMNS[] = {
    COLUMN(rank, "<i8", "rank", "the rank to which these numbers belong"),
#define RING_COUNT(name, unit, meaning) ELEMENT(values, RING_COUNT_##name, name, "<i8", unit, meaning),
#include "ring_counts.def"
#undef RING_COUNT
};

static void collect(const struct iolens_transport *transport, struct buffer *rows)
{
    const struct ring_counts *state = table_state_known(TABLE_io_uring);
    struct row row = {.rank = transport->rank};
    for (int i = 0; state && i < RING_COUNTS; i++)
        row.values[i] = state->values[i];
    if (state)
        buffer_put(rows, &row, sizeof row);
}

const struct process_table table_io_uring = {
    .name = "io_uring",
    .meaning =
        "Requests of a rank through rings of io_uring, whose reads, writes and other calls on files are in "
        "the records of the files, with the time from the submission until the profiler saw the "
        "completion. Some columns count requests that the profiler could not follow completely",
    TABLE_ROWS(COLUMNS),
    .recording.state_bytes = sizeof(struct ring_counts),
    .recording.end = rings_end,
    .recording.reset = rings_reset,
    .merging.collect = collect,
};

void ring_counts_add(enum ring_count which, int64_t amount)
{
    struct ring_counts *state = amount == 0 || iolens_paused() ? NULL : table_state(TABLE_io_uring);
    if (state)
        atomic_fetch_add_explicit(&state->values[which], amount, memory_order_relaxed);
}
