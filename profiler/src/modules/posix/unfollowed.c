#include "unfollowed.h"

#include "../../runtime/context.h"
#include "../../tables/process_table.h"

struct unfollowed_calls {
    _Atomic int64_t calls[UNFOLLOWED_KINDS];
};

void unfollowed_add(enum unfollowed which)
{
    struct unfollowed_calls *state = iolens_paused() ? NULL : table_state(TABLE_unfollowed);
    if (state)
        state->calls[which]++;
}

struct row {
    int64_t rank, calls[UNFOLLOWED_KINDS];
};

static const struct column COLUMNS[] = {
    COLUMN(rank, "<i8", "rank", "the rank to which these numbers belong"),
#define UNFOLLOWED(name, meaning) ELEMENT(calls, UNFOLLOWED_##name, name, "<i8", "calls", meaning),
#include "unfollowed.def"
#undef UNFOLLOWED
};

static void collect(const struct iolens_transport *transport, struct buffer *rows)
{
    const struct unfollowed_calls *state = table_state_known(TABLE_unfollowed);
    struct row row = {.rank = transport->rank};
    for (int i = 0; state && i < UNFOLLOWED_KINDS; i++)
        row.calls[i] = state->calls[i];
    if (state)
        buffer_put(rows, &row, sizeof row);
}

const struct process_table table_unfollowed = {
    .name = "unfollowed",
    .meaning = "A rank that used means of I/O which the profiler notices but cannot follow",
    TABLE_ROWS(COLUMNS),
    .recording.state_bytes = sizeof(struct unfollowed_calls),
    .recording.matters_if_used = true,
    .merging.collect = collect,
};
