#include "thread_room.h"

#include <pthread.h>
#include <stdalign.h>
#include <string.h>

#include "context.h"

struct room {
    /* Next block of the same thread; in the list of unused blocks, next block of the same kind. */
    struct room *next;
    struct thread_rooms *kind;
    void **mine;
    alignas(16) char memory[];
};

static struct {
    pthread_key_t key; /* Key whose value is the first block of a thread. */
    bool has_key;      /* False if the program has used up all keys of thread-local data. */
    pthread_once_t once;
} iolens_rooms = {.once = PTHREAD_ONCE_INIT};

static void keep_unused(struct room *room)
{
    spin_hold(&room->kind->lock);
    room->next = room->kind->unused;
    room->kind->unused = room;
    spin_unlock(&room->kind->lock);
}

static void give_back(void *first)
{
    for (struct room *room = first, *next; room; room = next) {
        next = room->next;
        *room->mine = NULL;
        keep_unused(room);
    }
}

static void make_key(void) { iolens_rooms.has_key = pthread_key_create(&iolens_rooms.key, give_back) == 0; }

static struct room *unused_room(struct thread_rooms *rooms)
{
    spin_hold(&rooms->lock);
    struct room *room = rooms->unused;
    if (room)
        rooms->unused = room->next;
    spin_unlock(&rooms->lock);
    return room;
}

static struct room *zeroed_room(struct thread_rooms *rooms)
{
    struct room *room = unused_room(rooms);
    if (room)
        memset(room->memory, 0, rooms->bytes);
    else
        room = arena_alloc_lines(&iolens.scratch, sizeof *room + rooms->bytes);
    if (room)
        room->kind = rooms;
    return room;
}

/* Registers the block, so that it is freed when the thread ends. */
static bool hand_out(struct room *room, void **mine)
{
    room->mine = mine;
    room->next = pthread_getspecific(iolens_rooms.key);
    if (pthread_setspecific(iolens_rooms.key, room) == 0)
        return true;
    keep_unused(room);
    return false;
}

void *thread_room(struct thread_rooms *rooms, void **mine)
{
    bool busy = iolens_busy;
    iolens_busy = true;
    pthread_once(&iolens_rooms.once, make_key);
    struct room *room = iolens_rooms.has_key ? zeroed_room(rooms) : NULL;
    if (room && hand_out(room, mine))
        *mine = room->memory;
    iolens_busy = busy;
    return *mine;
}
