#include "failed_calls.h"

#include "../tables/process_table.h"

enum { ERRORS = 134 }; /* One more than Linux's largest errno, 133. */

struct failed_calls {
    _Atomic int64_t calls[FAILED_OPERATIONS][ERRORS];
    _Atomic int64_t nanoseconds[FAILED_OPERATIONS][ERRORS];
};

void failed_calls_add(const struct call *c, enum failed_operation operation, int error)
{
    struct failed_calls *state = iolens_paused() ? NULL : table_state(TABLE_failed_calls);
    if (!state || error <= 0 || error >= ERRORS)
        return;
    atomic_fetch_add_explicit(&state->calls[operation][error], 1, memory_order_relaxed);
    atomic_fetch_add_explicit(&state->nanoseconds[operation][error], clock_ns_of(c->t1 - c->t0),
                              memory_order_relaxed);
}

static const char *const OPERATIONS[] = {
#define FAILED(name, meaning) #name,
#include "failed_calls.def"
#undef FAILED
};

struct row {
    int64_t rank;
    char operation[8];
    int64_t error, calls;
    double seconds;
};

static const struct column COLUMNS[] = {
    COLUMN(rank, "<i8", "rank", "the rank to which these numbers belong"),
    TEXT(operation, "S8",
         "the operation: open, stat, read or write, each with similar calls (such as creat or pread)",
         TEXT_WORD),
    COLUMN(error, "<i8", "errno", "the error: the value of errno"),
    COLUMN(calls, "<i8", "calls", "calls that failed with this error"),
    COLUMN(seconds, "<f8", "s", "time in these failed calls, summed over all threads"),
};

static void collect(const struct iolens_transport *transport, struct buffer *rows)
{
    const struct failed_calls *state = table_state_known(TABLE_failed_calls);
    for (int operation = 0; state && operation < FAILED_OPERATIONS; operation++)
        for (int error = 1; error < ERRORS; error++) {
            struct row row = {
                .rank = transport->rank,
                .error = error,
                .calls = state->calls[operation][error],
                .seconds = (double)state->nanoseconds[operation][error] / 1e9 * iolens.timeline.factor,
            };
            memcpy(row.operation, OPERATIONS[operation], strlen(OPERATIONS[operation]));
            if (row.calls > 0)
                buffer_put(rows, &row, sizeof row);
        }
}

const struct process_table table_failed_calls = {
    .name = "failed_calls",
    .meaning =
        "Calls of a rank on files that failed, by operation and error; calls that returned because they "
        "would have to wait (EAGAIN) are included",
    TABLE_ROWS(COLUMNS),
    .recording.state_bytes = sizeof(struct failed_calls),
    .merging.collect = collect,
};
