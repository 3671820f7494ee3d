/* Counter values of the whole process, over all threads, from the start of recording to its end. */
#ifndef IOLENS_PROCESS_COUNTERS_H
#define IOLENS_PROCESS_COUNTERS_H

#include "../../tables/keyed.h"
#include "counts.h"

struct counters_state {
    uint64_t events; /* Number of entries in `event`: the processor's events that are counted. */
    uint32_t event[EVENTS_MOST];
    struct set_reasons reasons;
    uint64_t counted; /* True if the user asked for counters of the processor; a perf counter then counts the
                         migrations, too. */
    /* Reason why the number of migrations during the run is unknown; used if no perf counter counts them. */
    char moved[PERF_REASON_BYTES];
    struct counts run;
    struct keyed regions; /* Rows of counter values by region: see `struct region_counts`. */
};

/* Opens the counters of this process when recording begins. */
void counters_start(void);

/* Excludes events that happen while recording is switched off: called with `on` true when recording is
 * switched off, and with `on` false when it resumes. */
void counters_pause(bool on);

/* Forgets the parent's counters in a child of fork, which must not use them. Returns false if the parent had
 * none. */
bool counters_reset(void);

/* Bits of enum iolens_tracing: the kinds of data that are recorded about traced calls. Counters are among
 * them if events of the processor were requested. */
extern unsigned iolens_counters_tracing;

/* Returns a number that changes whenever counting restarts, or recording is switched off or on. The
 * difference of two counter values is valid only if this number was the same at both. */
uint32_t counters_epoch(void);

const struct event_choice *counters_choice(void);

/* Returns true if the user chose events of the processor and they are being counted. */
bool counters_matter(void);

/* Returns the rows of counter values by region, or NULL. */
struct counters_state *counters_of_regions(void);

/* Update the values of the whole run in the state. The first is called during the run, the second at the end
 * of recording. */
void counters_read_so_far(void);
void counters_read_run(void);

/* Reads the calling thread's counters where a counted section begins, and where it ends. */
void counters_begin(struct counts *now);
void counters_end(struct counts *now);

/* Forgets the counters of threads in a child of fork, which has no open counters yet. */
void thread_counters_reset(void);

/* Key of a row of counter values: a thread and a region. */
struct region_key {
    uint32_t thread, region;
};

struct region_counts {
    struct counts begin, sum;
};

extern const struct keyed_shape region_counts_shape;

/* Count the events in a region: called when the thread enters and leaves it. `counters_leave` takes the value
 * that `counters_enter` returned; NULL means that nothing is counted. */
void *counters_enter(uint32_t region);
void counters_leave(void *counted);

#endif
