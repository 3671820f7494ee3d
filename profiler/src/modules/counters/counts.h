/* Values of all counters at one moment. */
#ifndef IOLENS_COUNTS_H
#define IOLENS_COUNTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

enum { PERF_REASON_BYTES = 96 };

/* Source of an event: a value of the kernel's enum perf_type_id, or PERF_NONE. */
enum { PERF_NONE = -1 };

/* An open counter. Its descriptor has a high number, which the program may still close and reuse for
 * itself. */
struct perf_counter {
    int fd; /* Descriptor of the counter; -1 if it is closed. */
    uint64_t id;
};

/* Value of a counter, with the time for which it was switched on and the time for which it really counted,
 * both in ns. */
struct perf_count {
    int64_t value;
    uint64_t enabled, running;
};

/* Starts a counter for this thread, or for this thread and all threads that it will start. Events inside the
 * kernel count only if `kernel` is true. On failure returns false and writes the cause to `reason`. */
bool perf_open(struct perf_counter *counter, int type, uint64_t code, bool threads, bool kernel,
               char reason[PERF_REASON_BYTES]);

/* Reads the counter. Returns false if the program has closed its descriptor. */
bool perf_read(const struct perf_counter *counter, struct perf_count *count);

void perf_close(struct perf_counter *counter);

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

enum soft_counter {
#define SOFT(identifier, name) SOFT_##identifier,
#include "counters_soft.def"
#undef SOFT
    SOFT_COUNTERS
};

/* Counters are numbered: first those of the kernel, then the chosen events of the processor. */
enum { COUNTERS_MOST = SOFT_COUNTERS + EVENTS_MOST };

/* Values of all counters at one moment, or differences between two moments. `enabled` is the time in ns for
 * which a counter was switched on, and `running` the part of it in which it really counted; both are 0 if the
 * counter does not exist. */
struct counts {
    int64_t value[COUNTERS_MOST], enabled[COUNTERS_MOST], running[COUNTERS_MOST];
};

/* Reads the processor time of `clock`, and the time for which the kernel's counters have been on and
 * counted. */
void counts_read_clock(struct counts *counts, clockid_t clock);

/* Reads the kernel's other counters; `who` is RUSAGE_SELF or RUSAGE_THREAD. */
void counts_read_usage(struct counts *counts, int who);

/* Adds the difference between two moments to `sum`. Peak memory is left out, because peaks cannot be
 * added. */
void counts_add_between(struct counts *sum, const struct counts *begin, const struct counts *end);

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

enum { COUNTER_NAME_BYTES = 64, COUNTER_PLACES = SOFT_COUNTERS + EVENTS };

/* Returns the number of counters; 0 if none were read. */
int counters_number(void);

/* Returns true if the counter has a value for regions too, and false if it has one for a whole run only. */
bool counter_is_of_parts(int counter);

const char *counter_name(int counter);

/* Returns a number below COUNTER_PLACES that stands for the counter of this name. */
size_t counter_place(const char *name);

/* Returns the reason why a counter has no value for the whole run or for part of the run, given how many ns
 * it ran; "" if it has a value. */
const char *counter_missing(int counter, bool whole_run, int64_t running);

#endif
