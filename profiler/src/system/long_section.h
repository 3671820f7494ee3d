/* A section of code that holds a lock for a long time, because it waits for the system or moves much memory.
 * Other threads wait for the lock until the section ends. Neither a signal handler nor a cancellation may end
 * the thread inside the section. */
#ifndef IOLENS_LONG_SECTION_H
#define IOLENS_LONG_SECTION_H

#include <signal.h>

struct long_section {
    sigset_t mask_before;
    int cancellable;
};

/* Begins the section. All signals are held back except `except`, which stays as it is; 0 for no exception. */
struct long_section long_section_begin(int except);

void long_section_end(const struct long_section *section);

/* Must be called in a child of fork: the parent's other threads, some of which may be in a long section, do
 * not exist there. */
void long_section_forget_others(void);

#endif
