#include "clocks.h"

#include "../runtime/context.h"
#include "../system/hash.h"
#include "../system/system_call.h"

enum { ROUND_TRIPS = 16, IDENTITY_BYTES = 256 };

struct first_rank {
    int64_t identity;
    int32_t rank, number;
};

/* Returns a value that is equal for two ranks that read the same monotonic clock, which is that of one kernel
 * in one time namespace. Hosts with different names on one kernel count as having different clocks; that
 * costs a superfluous comparison, but does no harm. */
static int64_t identify_clock(void)
{
    char text[IDENTITY_BYTES] = {0};
    struct stat info;
    host_name(text, HOST_BYTES);
    size_t used = strlen(text) + 1;
    used += slurp("/proc/sys/kernel/random/boot_id", text + used, 64);
    uint64_t space = file_info("/proc/self/ns/time", &info) == 0 ? (uint64_t)info.st_ino : 0;
    memcpy(text + used, &space, sizeof space);
    return (int64_t)(record_id(text, used + sizeof space) >> 1);
}

static int64_t now_ns(void) { return (int64_t)clock_monotonic_ns(&iolens.clock); }

static int compare_first(const void *a, const void *b)
{
    const struct first_rank *left = a, *right = b;
    int order = (left->identity > right->identity) - (left->identity < right->identity);
    return order ? order : (left->rank > right->rank) - (left->rank < right->rank);
}

static int compare_rank(const void *a, const void *b)
{
    return ((const struct first_rank *)a)->rank - ((const struct first_rank *)b)->rank;
}

/* Finds, on rank 0, the first rank of each clock, in the order of ranks. Returns the number of clocks. */
static int32_t find_first(const int64_t *identity, int32_t ranks, struct first_rank *found)
{
    int32_t count = 0;
    for (int32_t rank = 0; rank < ranks; rank++)
        found[rank] = (struct first_rank){.identity = identity[rank], .rank = rank};
    qsort(found, (size_t)ranks, sizeof *found, compare_first);
    for (int32_t i = 0; i < ranks; i++)
        if (count == 0 || found[i].identity != found[count - 1].identity)
            found[count++] = found[i];
    qsort(found, (size_t)count, sizeof *found, compare_rank);
    return count;
}

static size_t first_bytes(const struct iolens_transport *transport)
{
    return (size_t)transport->size * sizeof(struct first_rank);
}

static void free_first(const struct iolens_transport *transport, struct first_rank *first)
{
    pages_free(first, first_bytes(transport));
}

/* Collective. Returns the first rank of each clock, on all ranks; NULL if any of them lacks memory.
 * free_first frees the array. */
static struct first_rank *share_first(const struct iolens_transport *transport, int64_t identity,
                                      int32_t *count)
{
    size_t ranks = transport->rank == 0 ? (size_t)transport->size : 0;
    int64_t *all = ranks ? pages_alloc(ranks * sizeof *all) : NULL;
    struct first_rank *first = ranks ? pages_alloc(first_bytes(transport)) : NULL;
    bool whole = transport->gather(&identity, sizeof identity, all) == 0;
    *count = 0;
    if (ranks && whole && all && first)
        *count = find_first(all, transport->size, first);
    pages_free(all, ranks * sizeof *all);
    if (transport->bcast(count, sizeof *count, 0) != 0 || *count < 1)
        *count = 0;
    if (!first && *count > 0)
        first = pages_alloc(first_bytes(transport));
    uint8_t has_room = first != NULL;
    if (transport->allreduce(&has_room, 1, IOLENS_UINT8, IOLENS_BAND) != 0 || !has_room || *count == 0 ||
        transport->bcast(first, (size_t)*count * sizeof *first, 0) != 0) {
        free_first(transport, first);
        return NULL;
    }
    return first;
}

/* Plans a binomial tree: clock i compares itself with the clock whose number is i without its highest
 * bit. */
static void plan(struct clock_offsets *offsets, const struct first_rank *first)
{
    int32_t mine = offsets->mine, bit = 1;
    offsets->parent = -1;
    while (bit <= mine)
        bit *= 2;
    if (mine > 0)
        offsets->parent = first[mine - bit / 2].rank;
    for (; mine + bit < offsets->clocks && offsets->children < CLOCK_CHILDREN; bit *= 2)
        offsets->child[offsets->children++] = first[mine + bit].rank;
}

/* Measures the offset of the clock of rank `child` by several round trips, in each of which that clock is
 * read once. The shortest round trip counts. */
static bool compare_with(const struct iolens_transport *transport, int32_t child,
                         struct clock_offset *between)
{
    int64_t shortest = INT64_MAX;
    for (int trip = 0; trip < ROUND_TRIPS; trip++) {
        int64_t theirs, before = now_ns();
        if (transport->send(&before, sizeof before, child) != 0 ||
            transport->receive(&theirs, sizeof theirs, child) != 0)
            return false;
        int64_t took = now_ns() - before;
        if (took >= shortest)
            continue;
        shortest = took;
        *between = (struct clock_offset){theirs - before - took / 2, took / 2 + 1, theirs};
    }
    return true;
}

static bool answer(const struct iolens_transport *transport, int32_t parent, struct clock_offset *mine)
{
    for (int trip = 0; trip < ROUND_TRIPS; trip++) {
        int64_t theirs;
        if (transport->receive(&theirs, sizeof theirs, parent) != 0)
            return false;
        theirs = now_ns();
        if (transport->send(&theirs, sizeof theirs, parent) != 0)
            return false;
    }
    return transport->receive(mine, sizeof *mine, parent) == 0;
}

/* Measures the offsets of the clocks' first ranks along the tree, from its root outwards. Uncertainties add
 * up. */
static bool measure_tree(const struct iolens_transport *transport, const struct clock_offsets *offsets,
                         struct clock_offset *mine)
{
    bool good = offsets->parent < 0 || answer(transport, offsets->parent, mine);
    for (int32_t i = 0; i < offsets->children && good; i++) {
        struct clock_offset child = {0};
        good = compare_with(transport, offsets->child[i], &child);
        child.ns += mine->ns;
        child.uncertainty_ns += mine->uncertainty_ns;
        good = good && transport->send(&child, sizeof child, offsets->child[i]) == 0;
    }
    return good;
}

/* Collective. Returns the offset of this rank's clock, as measured by the first rank that shares it. */
static bool measure(const struct iolens_transport *transport, const struct clock_offsets *offsets,
                    struct clock_offset *mine)
{
    size_t bytes = (size_t)offsets->clocks * sizeof(struct clock_offset), numbers = bytes / sizeof(int64_t);
    struct clock_offset found = {.at_ns = now_ns()}, *all = pages_alloc(bytes);
    uint8_t good = all != NULL;
    if (transport->allreduce(&good, 1, IOLENS_UINT8, IOLENS_BAND) != 0 || !good) {
        pages_free(all, bytes);
        return false;
    }
    good = !offsets->first || measure_tree(transport, offsets, &found);
    if (offsets->first)
        all[offsets->mine] = found;
    good = transport->allreduce((int64_t *)all, numbers, IOLENS_INT64, IOLENS_SUM) == 0 && good;
    *mine = all[offsets->mine];
    pages_free(all, bytes);
    return good;
}

/* Collective. Returns true if the clocks differ and were measured; `begin` is then valid. */
static bool compare_clocks(const struct iolens_transport *transport, int64_t identity)
{
    struct clock_offsets *offsets = &iolens.offsets;
    struct first_rank *first = share_first(transport, identity, &offsets->clocks);
    if (!first)
        return false;
    while (offsets->mine < offsets->clocks - 1 && first[offsets->mine].identity != identity)
        offsets->mine++;
    offsets->first = first[offsets->mine].rank == transport->rank;
    if (offsets->first)
        plan(offsets, first);
    free_first(transport, first);
    return measure(transport, offsets, &offsets->begin);
}

void clocks_start(const struct iolens_transport *transport)
{
    int64_t identity = identify_clock(), agreed[3] = {identity, -identity, now_ns()};
    struct clock_offsets *offsets = &iolens.offsets;
    *offsets = (struct clock_offsets){.clocks = 1};
    bool known = transport->allreduce(agreed, 3, IOLENS_INT64, IOLENS_MAX) == 0;
    offsets->zero_ns = now_ns();
    if (known && agreed[0] == -agreed[1]) {
        offsets->zero_ns = agreed[2];
        return;
    }
    known = known && transport->send && compare_clocks(transport, identity);
    int64_t zero = now_ns();
    if (known && transport->bcast(&zero, sizeof zero, 0) == 0)
        offsets->zero_ns = zero + offsets->begin.ns;
    else
        offsets->clocks = 0;
}

void clocks_end(const struct iolens_transport *transport)
{
    if (iolens.offsets.clocks > 1)
        iolens.offsets.ended = measure(transport, &iolens.offsets, &iolens.offsets.end);
}
