/* Per-thread memory for data that is too large for thread-local storage. With an auditor (LD_AUDIT) the
 * loader has only some hundred bytes of thread-local storage for all preloaded libraries, and a program does
 * not start if a library needs more. */
#ifndef IOLENS_THREAD_ROOM_H
#define IOLENS_THREAD_ROOM_H

#include <stdint.h>

#include "../system/spin.h"

struct room;

/* The size of the per-thread blocks of one kind, and the blocks of ended threads, which new threads reuse. */
struct thread_rooms {
    size_t bytes; /* Size of each block in bytes. */
    struct spin lock;
    struct room *unused;
};

/* Returns zeroed memory for this thread, and sets the thread-local pointer *mine to it until the thread ends.
 * Returns NULL without memory, or if the program uses all keys of the process (pthread_key_create). Must not
 * be called from a signal handler. */
void *thread_room(struct thread_rooms *rooms, void **mine);

/* Returns the number of this thread in this process: 0 for the first one, 1, 2 … for others in the order of
 * their first call. */
uint32_t thread_number(void);

/* Gives the only thread of a child of fork the number 0. */
void thread_number_reset(void);

enum { SLOTS_MOST = 1024 };

/* Returns the number of this thread, from 0. Numbers of ended threads are reused; if more than SLOTS_MOST
 * threads run, several share the last number. */
uint32_t thread_slot(void);

#endif
