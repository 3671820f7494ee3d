/* The threads that the process started: how long each lived, and its use of the cores. */
#ifndef IOLENS_LIVES_H
#define IOLENS_LIVES_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "../system/usage.h"

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

#endif
