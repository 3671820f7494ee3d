/* A lock of one byte for sections of a few dozen instructions. Uncontended it costs one atomic exchange, and
 * nothing while the process has a single thread. (A locked section never starts a thread. Signal handlers do
 * not use this lock; data that they share is locked by spin_hold and spin_try.) */
#ifndef IOLENS_SPIN_H
#define IOLENS_SPIN_H

#include <stdatomic.h>
#include <stdbool.h>

#include "system_call.h"

struct spin {
    atomic_flag held;
};

enum { SPIN_TURNS = 1 << 20, SPIN_TRIES = 64 };

/* Number of threads that hold a lock in a long section (signals.h). While it is not 0, no lock is
 * treated as abandoned. */
extern atomic_int spin_patience;

/* Waits for a lock. A lock is never released if a signal handler jumped out of the locked section, or if the
 * holder's thread was cancelled asynchronously. After SPIN_TURNS turns the lock is therefore treated as
 * abandoned. */
static inline void spin_wait(struct spin *lock)
{
    for (int turn = 0; turn < SPIN_TURNS;
         turn += atomic_load_explicit(&spin_patience, memory_order_relaxed) == 0) {
        if (!atomic_flag_test_and_set_explicit(&lock->held, memory_order_acquire))
            return;
        system_call(SYS_sched_yield);
    }
}

/* Takes the lock in a signal handler. Returns false if the lock is not freed soon, because the interrupted
 * thread may hold it. All other users of the lock must use spin_hold. */
static inline bool spin_try(struct spin *lock)
{
    for (int turn = 0; turn < SPIN_TRIES; turn++)
        if (!atomic_flag_test_and_set_explicit(&lock->held, memory_order_acquire))
            return true;
    return false;
}

/* Takes the lock even while the process has a single thread, because a signal handler may want to change the
 * same data and must see that it is locked. */
static inline void spin_hold(struct spin *lock) { spin_wait(lock); }

/* glibc's __libc_single_threaded if it exists (from 2.32 on), else a byte that is 0. */
extern const char *spin_single_threaded;

static inline void spin_lock(struct spin *lock)
{
    if (!*spin_single_threaded)
        spin_wait(lock);
}

static inline void spin_unlock(struct spin *lock)
{
    atomic_flag_clear_explicit(&lock->held, memory_order_release);
}

#endif
