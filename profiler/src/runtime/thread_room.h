/* Room for what a thread keeps for itself and that is too large for thread-local storage. Where an auditor
 * (LD_AUDIT) is loaded, the loader has some hundred bytes of that for all preloaded libraries together, and a
 * program does not start with one that needs more. */
#ifndef IOLENS_THREAD_ROOM_H
#define IOLENS_THREAD_ROOM_H

#include <stddef.h>

#include "../system/spin.h"

struct room;

/* Rooms of one kind, those of ended threads among them. */
struct thread_rooms {
    size_t bytes; /* of each */
    struct spin lock;
    struct room *unused;
};

/* Zeroed memory for this thread, which *mine points to from then until the thread ends; NULL without memory,
 * or where the program has all of the process's keys (pthread_key_create). `mine` is thread-local. Not from a
 * signal handler. */
void *thread_room(struct thread_rooms *rooms, void **mine);

#endif
