#include "signals.h"

#include <pthread.h>

struct held_signal signal_hold(int number)
{
    struct held_signal held = {.number = number};
    sigemptyset(&held.set);
    sigaddset(&held.set, number);
    pthread_sigmask(SIG_BLOCK, &held.set, &held.mask_before);
    return held;
}

void signal_release(const struct held_signal *held)
{
    const struct timespec at_once = {0, 0};
    if (!sigismember(&held->mask_before, held->number))
        sigtimedwait(&held->set, NULL, &at_once);
    pthread_sigmask(SIG_SETMASK, &held->mask_before, NULL);
}
