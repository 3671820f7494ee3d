/* A lock of one byte for sections of a few dozen instructions. Uncontended it costs one atomic exchange. */
#ifndef IOLENS_SPIN_H
#define IOLENS_SPIN_H

#include <sched.h>
#include <stdatomic.h>

struct spin {
    atomic_flag held;
};

static inline void spin_lock(struct spin *lock)
{
    while (atomic_flag_test_and_set_explicit(&lock->held, memory_order_acquire))
        sched_yield();
}

static inline void spin_unlock(struct spin *lock)
{
    atomic_flag_clear_explicit(&lock->held, memory_order_release);
}

#endif
