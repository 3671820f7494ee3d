#include "thread_room.h"

#include <pthread.h>
#include <stdalign.h>

#include "../system/system_call.h"
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

static atomic_uint iolens_threads_numbered;
/* The thread's number plus 1; 0 before the thread has a number. */
static __thread uint32_t number_and_one __attribute__((tls_model("initial-exec")));

uint32_t thread_number(void)
{
    if (!number_and_one)
        number_and_one = system_call(SYS_gettid) == system_call(SYS_getpid)
                             ? 1
                             : atomic_fetch_add(&iolens_threads_numbered, 1) + 2;
    return number_and_one - 1;
}

void thread_number_reset(void)
{
    iolens_threads_numbered = 0;
    number_and_one = 0;
}

static struct {
    atomic_bool taken[SLOTS_MOST];
    pthread_key_t key;
    bool has_key; /* False if the program has used up all keys of thread-local data. */
    pthread_once_t once;
} iolens_slots = {.once = PTHREAD_ONCE_INIT};

/* The slot number of this thread plus 1; 0 before the thread has one. */
static __thread uint32_t own __attribute__((tls_model("initial-exec")));
static __thread bool ends; /* True after the first call of give_slot_back in this thread. */

/* Gives the number of an ending thread back when called the second time. This destructor asks to run twice,
 * because other cleanup of the thread may still use the number.
 */
static void give_slot_back(void *number)
{
    uint32_t mine = (uint32_t)(uintptr_t)number;
    ends = !ends && pthread_setspecific(iolens_slots.key, number) == 0;
    if (ends)
        return;
    own = 0;
    atomic_store_explicit(&iolens_slots.taken[mine - 1], false, memory_order_release);
}

static void make_slot_key(void)
{
    iolens_slots.has_key = pthread_key_create(&iolens_slots.key, give_slot_back) == 0;
}

static void take_slot(void)
{
    uint32_t number = 0;
    pthread_once(&iolens_slots.once, make_slot_key);
    while (number < SLOTS_MOST - 1 && atomic_exchange(&iolens_slots.taken[number], true))
        number++;
    own = number + 1;
    if (iolens_slots.has_key)
        pthread_setspecific(iolens_slots.key, (void *)(uintptr_t)own);
}

uint32_t thread_slot(void)
{
    if (own == 0)
        take_slot();
    return own - 1;
}
