/* Tracks the regions that a program marks, by their nesting path. */
#ifndef IOLENS_REGIONS_H
#define IOLENS_REGIONS_H

#include "../../tables/keyed.h"

/* Begins a visit of the thread to the region `id` inside its current region. A label is part of a region's
 * name; NULL: none. */
void region_begin(int64_t id, const char *label);

/* Ends the visits of the thread to the innermost region `id` and to all regions that it entered since. If the
 * thread is not in such a region, nothing changes, and the log reports the mistake. */
void region_end(int64_t id);

/* Excludes the time in which recording is switched off: called with `on` true when recording is switched off,
 * and with `on` false when it resumes. */
void regions_pause(bool on);

/* Forgets all open visits in a child of fork, which starts outside all regions. */
void regions_reset(void);

struct region_visits_key {
    uint32_t thread, region;
};

/* Totals of a region in one thread, and the visit that still goes on. There is at most one such visit,
 * because regions are distinguished by their nesting path. */
struct region_visits {
    struct keyed_row *outer; /* Row of the region that encloses this one, during a visit. */
    void *counted;           /* Value that counters_enter returned for this visit. */
    int64_t id, calls, unended;
    uint32_t region_before, open;
    /* Begin of the current visit, 0 while recording is off; `held` is the time until recording was switched
     * off. */
    double since, held;
    double time, inner, least, most;
};

/* Counts of incorrect marks, and of marks without room. */
struct region_troubles {
    _Atomic int64_t unbegun, crowded;
    _Atomic int64_t unbegun_id; /* Id of the latest region that was ended but never begun. */
};

/* The state of the table `regions`. */
struct regions_state {
    struct keyed rows;
    struct region_troubles troubles;
};

extern const struct keyed_shape region_visits_shape;

static inline struct region_visits *region_visits_of(struct keyed_row *row)
{
    return keyed_value(row, &region_visits_shape);
}

/* Adds a visit of this many seconds. */
static inline void region_visits_add(struct region_visits *visits, double seconds)
{
    visits->calls++;
    visits->time += seconds;
    if (visits->calls == 1 || seconds < visits->least)
        visits->least = seconds;
    if (seconds > visits->most)
        visits->most = seconds;
}

/* Returns the seconds that the thread has spent in the visit that still goes on. */
static inline double region_visits_seconds(const struct region_visits *visits, double now)
{
    return visits->since > 0 ? now - visits->since : visits->held;
}

#endif
