#include "regions.h"

#include <pthread.h>

#include "../../runtime/thread_room.h"
#include "../../runtime/wrap.h"
#include "../../tables/process_table.h"
#include "../counters/process_counters.h"
#include "../mpi_calls/mpi_calls.h"
#include "../region_names.h"

enum { MOST_ROWS = 65536 };

const struct keyed_shape region_visits_shape = {.key_bytes = sizeof(struct region_visits_key),
                                                .value_bytes = sizeof(struct region_visits),
                                                .most = MOST_ROWS};

static __thread struct keyed_row *innermost;
/* Number of regions that were begun without room for them and have not ended yet. */
static __thread int64_t uncounted;
/* Number of regions that were begun in the parent before the fork and have not ended yet. */
static __thread int64_t of_parent;
static __thread bool end_is_known; /* True if thread_ends will be called when the thread ends. */

static struct {
    pthread_once_t once;
    pthread_key_t key;
    bool has_key; /* False if the program has used up all keys of thread-local data. */
} iolens_region_ends = {.once = PTHREAD_ONCE_INIT};

static void leave(double now, bool ended)
{
    struct region_visits *visits = region_visits_of(innermost);
    double seconds = region_visits_seconds(visits, now);
    visits->unended += !ended;
    if (seconds > 0)
        region_visits_add(visits, seconds);
    if (visits->since > 0)
        why_region_left(iolens_region, visits->since, now);
    if (!iolens_paused())
        counters_leave(visits->counted);
    if (visits->outer)
        region_visits_of(visits->outer)->inner += seconds;
    visits->open = 0;
    iolens_region = visits->region_before;
    innermost = visits->outer;
}

static void leave_all(void)
{
    double now = clock_now(&iolens.clock);
    while (innermost)
        leave(now, false);
}

/* Ends all regions in which the thread still is. */
static void thread_ends(void *unused)
{
    (void)unused;
    end_is_known = false;
    uncounted = 0;
    if (iolens_active())
        RECORDER(leave_all());
}

static void make_key(void)
{
    iolens_region_ends.has_key = pthread_key_create(&iolens_region_ends.key, thread_ends) == 0;
}

static void learn_of_end(void)
{
    pthread_once(&iolens_region_ends.once, make_key);
    end_is_known = true;
    if (iolens_region_ends.has_key)
        pthread_setspecific(iolens_region_ends.key, &iolens_region_ends);
}

void region_begin(int64_t id, const char *label)
{
    struct regions_state *state = table_state(TABLE_regions);
    uint32_t region = state ? region_number(iolens_region, id, label) : REGION_OTHER;
    const struct region_visits_key key = {thread_number(), region};
    struct keyed_row *row =
        region != REGION_OTHER ? keyed_find(&state->rows, &region_visits_shape, &key) : NULL;
    if (!row) {
        uncounted++;
        if (state)
            state->troubles.crowded++;
        return;
    }
    if (!end_is_known)
        learn_of_end();
    struct region_visits *visits = region_visits_of(row);
    visits->id = id;
    visits->outer = innermost;
    visits->region_before = iolens_region;
    visits->since = iolens_paused() ? 0 : clock_now(&iolens.clock);
    visits->held = 0;
    visits->counted = iolens_paused() ? NULL : counters_enter(region);
    visits->open = 1;
    innermost = row;
    iolens_region = region;
}

static bool is_in(int64_t id)
{
    struct keyed_row *row = innermost;
    while (row && region_visits_of(row)->id != id)
        row = region_visits_of(row)->outer;
    return row;
}

static void note_unbegun(int64_t id)
{
    struct regions_state *state = table_state(TABLE_regions);
    if (!state)
        return;
    state->troubles.unbegun++;
    state->troubles.unbegun_id = id;
}

void region_end(int64_t id)
{
    if (uncounted > 0) {
        uncounted--;
        return;
    }
    if (!is_in(id)) {
        if (of_parent > 0)
            of_parent--;
        else
            note_unbegun(id);
        return;
    }
    double now = clock_now(&iolens.clock);
    while (region_visits_of(innermost)->id != id)
        leave(now, false);
    leave(now, true);
}

/* Stops the clocks of this process's current regions if `on` is true; else lets them continue. */
void regions_pause(bool on)
{
    struct regions_state *state = table_state_known(TABLE_regions);
    double now = clock_now(&iolens.clock);
    for (struct keyed_row *row = state ? keyed_first(&state->rows) : NULL; row; row = keyed_next(row)) {
        struct region_visits *visits = region_visits_of(row);
        if (on && visits->open && visits->since > 0)
            visits->held = now - visits->since;
        visits->since = on || !visits->open ? 0 : now - visits->held;
    }
}

void regions_reset(void)
{
    for (of_parent = uncounted; innermost; innermost = region_visits_of(innermost)->outer)
        of_parent++;
    uncounted = 0;
    iolens_region = REGION_NONE;
    thread_number_reset();
}
