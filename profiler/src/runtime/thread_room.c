#include "thread_room.h"

#include <pthread.h>
#include <stdalign.h>
#include <string.h>

#include "context.h"

struct room {
    struct room *next; /* of the same thread; of an unused one, of the same kind */
    struct thread_rooms *kind;
    void **mine;
    alignas(16) char memory[];
};

static struct {
    pthread_key_t key; /* of the first room of a thread */
    pthread_once_t once;
} iolens_rooms = {.once = PTHREAD_ONCE_INIT};

static void give_back(void *first)
{
    for (struct room *room = first, *next; room; room = next) {
        struct thread_rooms *kind = room->kind;
        next = room->next;
        *room->mine = NULL;
        spin_hold(&kind->lock);
        room->next = kind->unused;
        kind->unused = room;
        spin_unlock(&kind->lock);
    }
}

static void make_key(void) { pthread_key_create(&iolens_rooms.key, give_back); }

static struct room *unused_room(struct thread_rooms *rooms)
{
    spin_hold(&rooms->lock);
    struct room *room = rooms->unused;
    if (room)
        rooms->unused = room->next;
    spin_unlock(&rooms->lock);
    return room;
}

void *thread_room(struct thread_rooms *rooms, void **mine)
{
    bool busy = iolens_busy;
    iolens_busy = true;
    pthread_once(&iolens_rooms.once, make_key);
    struct room *room = unused_room(rooms);
    if (room)
        memset(room->memory, 0, rooms->bytes);
    else
        room = arena_alloc_lines(&iolens.scratch, sizeof *room + rooms->bytes);
    if (room) {
        room->kind = rooms;
        room->mine = mine;
        room->next = pthread_getspecific(iolens_rooms.key);
        pthread_setspecific(iolens_rooms.key, room);
        *mine = room->memory;
    }
    iolens_busy = busy;
    return room ? room->memory : NULL;
}
