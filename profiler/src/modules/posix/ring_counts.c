#include "ring_counts.h"

#include "../../runtime/context.h"
#include "../../tables/process_table.h"

void ring_counts_add(enum ring_count which, int64_t amount)
{
    struct ring_counts *state = amount == 0 || iolens_paused() ? NULL : table_state(TABLE_io_uring);
    if (state)
        atomic_fetch_add_explicit(&state->values[which], amount, memory_order_relaxed);
}
