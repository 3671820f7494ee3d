/* Holds back a signal that a system call of the recorder may raise, so that the program never sees the
 * signal. */
#ifndef IOLENS_SIGNALS_H
#define IOLENS_SIGNALS_H

#include <signal.h>

struct held_signal {
    int number;
    sigset_t set, mask_before;
};

/* Does the work of pthread_sigmask, which the library wraps for the program. */
void signals_set_mask(int how, const sigset_t *set, sigset_t *before);

/* Holds back a signal in this thread. Works only for signals that the calling thread itself raises, like
   SIGXFSZ beyond the file size limit. */
struct held_signal signal_hold(int number);

/* Discards the signal if it was raised meanwhile, and lets later ones through again. */
void signal_release(const struct held_signal *held);

#endif
