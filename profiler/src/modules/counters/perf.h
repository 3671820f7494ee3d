/* Counters of the kernel and the processor, by perf_event_open. */
#ifndef IOLENS_PERF_H
#define IOLENS_PERF_H

#include <stdbool.h>
#include <stdint.h>

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

#endif
