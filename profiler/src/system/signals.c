#include "signals.h"

#include <string.h>
#include <unistd.h>

#include "system_call.h"

enum { KERNEL_SET_BYTES = 8 };

void signals_set_mask(int how, const sigset_t *set, sigset_t *before)
{
    if (before)
        memset(before, 0, sizeof *before);
    system_call(SYS_rt_sigprocmask, how, set, before, (size_t)KERNEL_SET_BYTES);
}

struct held_signal signal_hold(int number)
{
    struct held_signal held = {.number = number};
    sigemptyset(&held.set);
    sigaddset(&held.set, number);
    signals_set_mask(SIG_BLOCK, &held.set, &held.mask_before);
    return held;
}

/* Makes the system call itself, because sigtimedwait may cancel the thread while it holds the recorder's
 * locks. */
void signal_release(const struct held_signal *held)
{
    const struct timespec at_once = {0, 0};
    if (!sigismember(&held->mask_before, held->number))
        system_call(SYS_rt_sigtimedwait, &held->set, NULL, &at_once, KERNEL_SET_BYTES);
    signals_set_mask(SIG_SETMASK, &held->mask_before, NULL);
}
