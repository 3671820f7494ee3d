/* Holds the signal of the sampling timers back during calls that a signal would end early. */
#ifndef IOLENS_SAMPLING_HELD_H
#define IOLENS_SAMPLING_HELD_H

#include <signal.h>
#include <stddef.h>

#include "sampling.h"
#include "state.h"

/* Holds the timers' signal back while the function `real` waits. Must be expanded in the wrapper itself,
 * because it records the wrapper's caller. */
#define HOLD(real)                                                                                           \
    sampling_hold(&(struct sampled_wait){(uintptr_t)(real), (uintptr_t)__builtin_return_address(0),          \
                                         (uintptr_t)__builtin_frame_address(0)})

/* Returns the signal mask to use during a wait: a copy of `mask` in `copy`, with the timers' signal added.
 * Returns NULL if `mask` is NULL. */
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
