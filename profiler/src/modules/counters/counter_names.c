#include <string.h>

#include "../../tables/process_table.h"
#include "process_counters.h"

static const char *const SOFT_NAME[] = {
#define SOFT(identifier, name) name,
#include "counters_soft.def"
#undef SOFT
};

static const char NEVER_RAN[] =
    "no counter was free for it (too many events), or the program closed the counter";

int counters_number(void)
{
    const struct counters_state *state = table_state_known(TABLE_counters);
    return state ? SOFT_COUNTERS + (int)state->events : 0;
}

bool counter_is_of_parts(int counter) { return counter != SOFT_PEAK_MEMORY; }

const char *counter_name(int counter)
{
    const struct counters_state *state = table_state_known(TABLE_counters);
    return counter < SOFT_COUNTERS ? SOFT_NAME[counter] : event_name(state->event[counter - SOFT_COUNTERS]);
}

size_t counter_place(const char *name)
{
    size_t place = 0;
    while (place < SOFT_COUNTERS && strcmp(name, SOFT_NAME[place]) != 0)
        place++;
    while (place >= SOFT_COUNTERS && place < COUNTER_PLACES - 1 &&
           strcmp(name, event_name((enum counter_event)(place - SOFT_COUNTERS))) != 0)
        place++;
    return place;
}

static const char *reason_of(const struct counters_state *state, int counter, bool whole_run)
{
    if (counter == SOFT_CPU_MIGRATIONS)
        return whole_run && !state->counted ? state->moved : state->reasons.of[SET_MIGRATIONS];
    return counter < SOFT_COUNTERS ? "" : state->reasons.of[counter - SOFT_COUNTERS];
}

const char *counter_missing(int counter, bool whole_run, int64_t running)
{
    const char *reason = reason_of(table_state_known(TABLE_counters), counter, whole_run);
    return !*reason && running <= 0 ? NEVER_RAN : reason;
}
