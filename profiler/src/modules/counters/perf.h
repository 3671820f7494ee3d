/* Counters of the kernel and the processor, by perf_event_open. */
#ifndef IOLENS_PERF_H
#define IOLENS_PERF_H

#include <stdbool.h>
#include <stdint.h>

enum { PERF_REASON_BYTES = 96 };

/* The source of an event: a value of the kernel's enum perf_type_id, or none. */
enum { PERF_NONE = -1 };

/* An open counter. Its descriptor is a high number; the program may close it, and use the number for itself.
 */
struct perf_counter {
    int fd; /* -1: none */
    uint64_t id;
};

/* Counts so far, and how much of the time that it was switched on it really counted, both in ns. */
struct perf_count {
    int64_t value;
    uint64_t enabled, running;
};

/* Count from now on: in this thread, or in this thread and all that it will start. Only what happens in the
 * program, unless `kernel`. False: `reason` says in a sentence why not. */
bool perf_open(struct perf_counter *counter, int type, uint64_t code, bool threads, bool kernel,
               char reason[PERF_REASON_BYTES]);

/* False when the program closed it. */
bool perf_read(const struct perf_counter *counter, struct perf_count *count);

void perf_close(struct perf_counter *counter);

#endif
