/* The state of sampling in two process tables: `samples`, the number of timer periods in which each call
 * chain was met, and `sampling`, the threads and their timers. */
#ifndef IOLENS_SAMPLING_STATE_H
#define IOLENS_SAMPLING_STATE_H

#include <ucontext.h>

#include "../tables/keyed.h"
#include "../unwind/registers.h"

enum { SAMPLED_THREADS = 1024, SAMPLED_FRAMES = 128 };

/* Key and value of a row of the table `samples`. */
struct sample_key {
    uint32_t thread, region, node, blocked;
};

struct sample_count {
    _Atomic int64_t count;
    _Atomic int64_t on_core_ns; /* Processor time in ns; counted only in the rows of running threads. */
};

extern const struct keyed_shape sample_shape;

enum { THREAD_UNUSED, THREAD_ALIVE, THREAD_LEAVING, THREAD_ENDED };

/* A call that waits while the signal is held back: the function that waits, and where it was called. */
struct sampled_wait {
    uintptr_t function, caller, frame;
};

/* A thread and its timer. Times are in seconds of the clock that the timer runs by. */
struct sampled_thread {
    _Atomic int32_t life;
    int32_t kernel_id, timer;
    struct stack_span stack;
    bool released;               /* True while the signal is let through at the end of a wait. */
    bool mask_changes;           /* True while the program changes the signals that it blocks. */
    struct sampled_wait wait;    /* The wait that the thread is in; frame 0 means none. */
    double begin, last, earlier; /* `earlier`: time of threads that had this entry before. */
    double handler_time;
    int64_t on_core_ns; /* Processor time at the latest sample outside system calls. */
    int64_t samples, stacks, cut, paused;
};

/* The state of `sampling`. */
struct sampling {
    double hz;
    /* The clock of the timers: 0 for CLOCK_MONOTONIC, else the thread's processor time. */
    int64_t by_processor;
    _Atomic int64_t threads; /* Number of entries of `thread` that were used. */
    _Atomic int64_t refused; /* Number of threads that got no timer. */
    struct sampled_thread thread[SAMPLED_THREADS];
};

/* Counts an interruption of the thread, which stands for `weight` periods of its timer. Called in the
 * signal handler. */
void sample_take(struct sampling *sampling, struct sampled_thread *thread, const ucontext_t *context,
                 int64_t weight);

/* Counts the periods that a thread has spent in an unfinished wait and that no sample has counted. Called
 * when recording has ended. Another thread reads the stack here, so the result is dropped if the wait ended
 * meanwhile. */
void sample_unfinished(struct sampling *sampling, struct sampled_thread *thread);

enum { TIMES_PER_CHUNK = 1024 };

/* `thread`: its number; `time`: seconds since this process started recording. */
struct sample_time {
    double time;
    uint32_t thread, node, periods, waited;
};

struct sample_times_chunk {
    struct sample_times_chunk *older; /* The chunk before this one; NULL in the first chunk. */
    /* Number of samples for which room was requested in this chunk; may exceed the chunk's size. */
    _Atomic int64_t used;
    struct sample_time entry[TIMES_PER_CHUNK];
};

/* The state of `sample_times`. */
struct sample_times {
    int64_t most; /* Largest number of samples that are kept. */
    _Atomic(struct sample_times_chunk *) newest;
    _Atomic int64_t kept, left_out;
};

/* Adds `entry` to `times`, or counts it as left out if there is no room; does nothing if `times` is NULL. May
 * be called from a signal handler. */
void sample_times_keep(struct sample_times *times, const struct sample_time *entry);

/* Returns the number of filled entries of a chunk. */
int64_t sample_times_in(const struct sample_times_chunk *chunk);

#endif
