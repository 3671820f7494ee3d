#include "comm_ids.h"

#include <stdbool.h>

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

static int rank_at(struct ranks ranks, int at)
{
    return ranks.world ? ranks.world[at] : ranks.first + at * ranks.stride;
}

/* Adds a group of ranks to a hash; returns false if one of them lies outside of MPI_COMM_WORLD. */
static bool add_ranks(uint64_t *hash, struct ranks ranks)
{
    *hash = mixed(*hash, (uint64_t)ranks.size);
    for (int i = 0; i < ranks.size; i++) {
        int rank = rank_at(ranks, i);
        if (rank < 0)
            return false;
        *hash = mixed(*hash, (uint64_t)rank);
    }
    return true;
}

static uint32_t next_of(uint64_t hash)
{
    uint32_t id = (uint32_t)(mixed(hash, count(hash)) >> 32);
    return id ? id : 1;
}

uint32_t comm_id_next(struct ranks ranks)
{
    uint64_t hash = 0;
    return add_ranks(&hash, ranks) ? next_of(hash) : 0;
}

uint32_t comm_id_between(struct ranks here, struct ranks there)
{
    uint64_t hash = 1;
    bool lower = here.size > 0 && there.size > 0 && rank_at(here, 0) < rank_at(there, 0);
    return add_ranks(&hash, lower ? here : there) && add_ranks(&hash, lower ? there : here) ? next_of(hash)
                                                                                            : 0;
}
