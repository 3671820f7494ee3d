#include "comm_ids.h"

#include "heap.h"

/* The ranks of a communicator, as a hash, and the number of communicators that were made of exactly these
 * ranks. */
struct group {
    struct group *next;
    uint64_t hash;
    uint32_t made;
};

static struct group *groups;

static uint64_t mixed(uint64_t hash, uint64_t value)
{
    hash = (hash ^ value) * UINT64_C(0x9e3779b97f4a7c15);
    return hash ^ hash >> 29;
}

/* Returns how many communicators with the same ranks were made before, by the hash of the ranks, and counts
 * this one. Without memory, returns 0 for all such communicators, so that all of them get the same number. */
static uint32_t count(uint64_t hash)
{
    struct group *group = groups;
    while (group && group->hash != hash)
        group = group->next;
    if (!group && (group = heap_take_zeroed(1, sizeof *group))) {
        group->hash = hash;
        group->next = groups;
        groups = group;
    }
    return group ? group->made++ : 0;
}

uint32_t comm_id_next(int size, int first, int stride, const int *world)
{
    uint64_t hash = (uint64_t)size;
    for (int i = 0; i < size; i++) {
        int rank = world ? world[i] : first + i * stride;
        if (rank < 0)
            return 0;
        hash = mixed(hash, (uint64_t)rank);
    }
    uint32_t id = (uint32_t)(mixed(hash, count(hash)) >> 32);
    return id ? id : 1;
}
