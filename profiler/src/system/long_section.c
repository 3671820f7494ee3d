#include "long_section.h"

#include <pthread.h>

#include "signals.h"
#include "spin.h"

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
