/* The open counters of a process or of a thread: one for each event that was chosen, one of migrations. */
#ifndef IOLENS_COUNTER_SET_H
#define IOLENS_COUNTER_SET_H

#include <stdbool.h>

#include "counter_events.h"
#include "counts.h"
#include "perf.h"

/* Places in a set: the events in the order of the choice, migrations last. */
enum { SET_MIGRATIONS = EVENTS_MOST, SET_PLACES };

struct counter_set {
    struct perf_counter counter[SET_PLACES];
};

/* Why there is no counter in a place: a sentence; "": there is one. */
struct set_reasons {
    char of[SET_PLACES][PERF_REASON_BYTES];
};

/* Opens the counters of this process with its future threads, or of this thread alone. Counters that cannot
 * be opened are left out, with the reason. */
void counter_set_open(struct counter_set *set, const struct event_choice *choice, bool process,
                      struct set_reasons *reasons);

/* Only what the set counts is changed in `counts`. */
void counter_set_read(const struct counter_set *set, const struct event_choice *choice,
                      struct counts *counts);

void counter_set_close(struct counter_set *set);

#endif
