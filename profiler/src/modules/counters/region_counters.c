#include "region_counters.h"

#include "../../runtime/thread_room.h"
#include "process_counters.h"
#include "thread_counters.h"

enum { MOST_ROWS = 16384 };

const struct keyed_shape region_counts_shape = {
    .key_bytes = sizeof(struct region_key), .value_bytes = sizeof(struct region_counts), .most = MOST_ROWS};

/* Returns the row of this thread. Threads that run one after another share a row, because the number of rows
 * is limited. Beyond SLOTS_MOST threads at a time, each further thread has a row of its own. */
static uint32_t row_of_thread(void)
{
    uint32_t slot = thread_slot();
    return slot < SLOTS_MOST - 1 ? slot : SLOTS_MOST + thread_number();
}

void *counters_enter(uint32_t region)
{
    struct counters_state *state = counters_of_regions();
    const struct region_key key = {state ? row_of_thread() : 0, region};
    struct keyed_row *row = state ? keyed_find(&state->regions, &region_counts_shape, &key) : NULL;
    struct region_counts *counted = row ? keyed_value(row, &region_counts_shape) : NULL;
    if (counted)
        counters_begin(&counted->begin);
    return counted;
}

void counters_leave(void *memory)
{
    struct region_counts *counted = memory;
    struct counts end;
    if (!counted)
        return;
    counters_end(&end);
    counts_add_between(&counted->sum, &counted->begin, &end);
}
