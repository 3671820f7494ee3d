#include "signals.h"

#include <pthread.h>
#include <string.h>

#include "spin.h"

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

struct long_section long_section_begin(int except)
{
    struct long_section section;
    sigset_t all;
    sigfillset(&all);
    if (except)
        sigdelset(&all, except);
    signals_set_mask(SIG_BLOCK, &all, &section.mask_before);
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &section.cancellable);
    spin_patience++;
    return section;
}

void long_section_end(const struct long_section *section)
{
    int before;
    spin_patience--;
    pthread_setcancelstate(section->cancellable, &before);
    signals_set_mask(SIG_SETMASK, &section->mask_before, NULL);
}

void long_section_forget_others(void) { spin_patience = 0; }
