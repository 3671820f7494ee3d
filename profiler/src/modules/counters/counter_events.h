/* The events that may be counted, and which of them are. */
#ifndef IOLENS_COUNTER_EVENTS_H
#define IOLENS_COUNTER_EVENTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum counter_event {
#define EVENT(name, type, code, unit) EVENT_##name,
#define CODE(name, vendor, family, code, source)
#include "counter_events.def"
#undef EVENT
#undef CODE
    EVENTS
};

enum { EVENTS_MOST = 16 }; /* that are counted at once */

struct event_choice {
    bool wanted; /* counters of the processor are asked for */
    size_t count;
    enum counter_event event[EVENTS_MOST];
};

const char *event_name(enum counter_event event);

/* Returns the source of the event on this machine: a perf_type_id and a code, or PERF_NONE. */
int event_source(enum counter_event event, uint64_t *code);

/* The events of `text`: numbers and names of groups, names of events, separated by commas; "" and "none": no
 * events. What is none of these is said, once. */
struct event_choice events_choose(const char *text);

/* The groups with their events, and whether each event can be counted here, for a user to read. */
void events_print(void);

#endif
