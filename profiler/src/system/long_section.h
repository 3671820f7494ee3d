/* A section that holds a lock and does not end soon: it waits for the system, or moves much memory. Other
 * threads then wait as long as it takes. Neither a signal handler nor a cancellation may end the thread
 * there. */
#ifndef IOLENS_LONG_SECTION_H
#define IOLENS_LONG_SECTION_H

#include <signal.h>

struct long_section {
    sigset_t mask_before;
    int cancellable;
};

/* Begins the section. `except` is a signal that stays as it is; 0: all signals are held back. */
struct long_section long_section_begin(int except);

void long_section_end(const struct long_section *section);

/* Called in a child of fork, which has none of the other threads. */
void long_section_forget_others(void);

#endif
