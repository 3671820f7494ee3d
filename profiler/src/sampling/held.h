/* For wrappers of calls that a signal would end early: the signal of the sampling timers is held back
   meanwhile. */
#ifndef IOLENS_SAMPLING_HELD_H
#define IOLENS_SAMPLING_HELD_H

#include <signal.h>
#include <stddef.h>

#include "sampling.h"
#include "state.h"

/* `real`: the function that waits. Must be expanded in the wrapper itself, because the caller of the
 * wrapper is recorded. */
#define HOLD(real)                                                                                           \
    sampling_hold(&(struct sampled_wait){(uintptr_t)(real), (uintptr_t)__builtin_return_address(0),          \
                                         (uintptr_t)__builtin_frame_address(0)})

/* Returns the signal mask for the time of a wait: a copy of `mask`, made in `copy`, to which the timers'
 * signal is added; NULL for NULL. */
static inline sigset_t *held_mask(const sigset_t *mask, sigset_t *copy)
{
    if (!mask)
        return NULL;
    *copy = *mask;
    if (sampling_signal() != 0)
        sigaddset(copy, sampling_signal());
    return copy;
}

#endif
