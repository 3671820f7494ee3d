/* The table of the regions that a program marks: a row for each thread and region. */
#ifndef IOLENS_REGION_VISITS_H
#define IOLENS_REGION_VISITS_H

#include <stdint.h>

#include "../../tables/keyed.h"

struct region_visits_key {
    uint32_t thread, region;
};

/* A thread is in a region of one path at most once, so a row is also the note that it is in there. */
struct region_visits {
    struct keyed_row *outer; /* the row of the region that this one was begun in; while it is open */
    void *counted;           /* what the counters gave for it */
    int64_t id, calls, unended;
    uint32_t region_before, open;
    double since, held; /* when it was begun; 0 while recording is off, and `held` the seconds until then */
    double time, inner, least, most;
};

/* Marks that were wrong, and marks for which there was no room. */
struct region_troubles {
    _Atomic int64_t unbegun, crowded;
    _Atomic int64_t unbegun_id; /* the latest */
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

/* One more visit, of so many seconds. */
static inline void region_visits_add(struct region_visits *visits, double seconds)
{
    visits->calls++;
    visits->time += seconds;
    if (visits->calls == 1 || seconds < visits->least)
        visits->least = seconds;
    if (seconds > visits->most)
        visits->most = seconds;
}

/* Seconds of the visit that goes on. */
static inline double region_visits_seconds(const struct region_visits *visits, double now)
{
    return visits->since > 0 ? now - visits->since : visits->held;
}

#endif
