#include "path_room.h"

#include <stdatomic.h>
#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

#include "system_call.h"
#include "large_room.h"

enum { ROOMS = 64 };

static char rooms[ROOMS][PATH_BYTES] LARGE_ROOM;
static _Atomic uint64_t taken; /* Bit i: rooms[i] is in use. */

/* Returns room for a path; NULL without memory. If all rooms are in use, a separate page is mapped, which
 * costs two system calls. */
char *path_room_take(void)
{
    uint64_t before = atomic_load_explicit(&taken, memory_order_relaxed);
    while (~before) {
        int free = __builtin_ctzll(~before);
        if (atomic_compare_exchange_weak_explicit(&taken, &before, before | UINT64_C(1) << free,
                                                  memory_order_acquire, memory_order_relaxed))
            return rooms[free];
    }
    long page =
        system_call(SYS_mmap, NULL, PATH_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0L);
    return page == -1 ? NULL : (char *)page;
}

void path_room_give(char *room)
{
    uintptr_t at = (uintptr_t)room - (uintptr_t)rooms;
    if (at < sizeof rooms)
        atomic_fetch_and_explicit(&taken, ~(UINT64_C(1) << at / PATH_BYTES), memory_order_release);
    else if (room)
        system_call(SYS_munmap, room, PATH_BYTES);
}
