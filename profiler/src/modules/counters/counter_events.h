/* The list of countable events, and the events that the user chose. */
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

enum { EVENTS_MOST = 16 }; /* Largest number of events that are counted at once. */

struct event_choice {
    bool wanted; /* True if the user asked for counters of the processor. */
    size_t count;
    enum counter_event event[EVENTS_MOST];
};

const char *event_name(enum counter_event event);

/* Returns the source of the event on this machine: a perf_event type and code, or PERF_NONE. */
int event_source(enum counter_event event, uint64_t *code);

/* Reads a list of events from `text`: numbers and names of groups and names of events, separated by commas;
 * "" and "none" choose no events. An unknown word is reported once. */
struct event_choice events_choose(const char *text);

/* Prints the groups with their events for a user, and says which events this machine can count. */
void events_print(void);

#endif
