/* The open counters of a process or a thread: one for each chosen event, and one for migrations. */
#ifndef IOLENS_COUNTER_SET_H
#define IOLENS_COUNTER_SET_H

#include <stdbool.h>

#include "counter_events.h"
#include "counts.h"
#include "perf.h"

/* Positions of counters in a set: first the chosen events in their order, then migrations. */
enum { SET_MIGRATIONS = EVENTS_MOST, SET_PLACES };

struct counter_set {
    struct perf_counter counter[SET_PLACES];
};

/* Reasons why a position has no counter, as sentences; "" if it has one. */
struct set_reasons {
    char of[SET_PLACES][PERF_REASON_BYTES];
};

/* Opens the counters of this process with its future threads, or of this thread alone. Counters that cannot
 * be opened are left out, with the reason. */
void counter_set_open(struct counter_set *set, const struct event_choice *choice, bool process,
                      struct set_reasons *reasons);

/* Reads the open counters into `counts`; values of other counters stay as they are. */
void counter_set_read(const struct counter_set *set, const struct event_choice *choice,
                      struct counts *counts);

void counter_set_close(struct counter_set *set);

#endif
