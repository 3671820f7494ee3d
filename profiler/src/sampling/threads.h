/* Gives each sampled thread a place, which is an entry of `thread` in struct sampling, and a timer. */
#ifndef IOLENS_SAMPLING_THREADS_H
#define IOLENS_SAMPLING_THREADS_H

#include <signal.h>

#include "../system/clock.h"
#include "state.h"

/* Returns a place with a running timer that raises `number` in the calling thread; NULL if there is none. */
struct sampled_thread *thread_begin(struct sampling *sampling, int number);

/* Ends the sampling of a thread and makes its place free, because the thread ends or recording does. Returns
 * false if that was done before. */
bool thread_end(struct sampling *sampling, struct sampled_thread *thread);

/* Returns the thread whose timer raised a signal; NULL if the signal is not from one of our timers. */
struct sampled_thread *thread_of(struct sampling *sampling, const siginfo_t *info);

/* Returns the processor time of the calling thread, in nanoseconds. */
int64_t thread_on_core_ns(void);

/* Returns the current time by the clock of a thread's timer. */
double thread_now(const struct sampling *sampling, const struct sampled_thread *thread);

enum { LIVES_MOST = 256 };

/* `kernel_id` is 0 before the thread has begun; `end` is 0 until it has ended. Times are in seconds since
 * recording began. */
struct life {
    _Atomic int32_t kernel_id;
    double begin;
    _Atomic double end;
    struct usage usage; /* Usage at the thread's end. */
};

/* The state of the table `threads`. Threads for which there is no place are counted, but not recorded. */
struct lives {
    _Atomic int64_t started;
    struct life thread[LIVES_MOST];
};

/* Starts to record the lives of threads when recording begins. Under ThreadSanitizer no thread is recorded,
 * because new threads cannot free memory there. */
void lives_start(void);

/* Returns true if a thread that the calling one starts now is to be recorded. */
bool lives_wanted(void);

/* Begins the record of the calling thread, which was just started; the record is completed when the thread
 * ends. */
void lives_begin(void);

/* Forgets all threads in a child of fork: they are the parent's, and the child has not started any thread
 * yet. */
void lives_reset(void);

/* Returns true if ThreadSanitizer's library is loaded or part of the program. No thread may then be
 * interrupted: ThreadSanitizer replaces the C library's functions, and these end the process in a signal
 * handler or a new thread that it does not know. */
bool has_thread_sanitizer(void);

#endif
