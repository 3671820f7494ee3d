#include <math.h>

#include "traced_call.h"

enum { SHARD_BITS = 8, SHARDS = 1 << SHARD_BITS, ENTRIES_PER_CHAIN = 2 };

struct entry {
    struct entry *next;
    uintptr_t handle;
    struct request request;
    /* Time from which on the handle belongs to a request of another kind; 0 if the handle still belongs to
       this request. */
    double passed;
};

/* One part of the table of pending requests, with its own lock: a hash table that grows. */
struct shard {
    atomic_flag held;
    unsigned bits;         /* Logarithm of the number of chains. */
    size_t entries;        /* Number of entries in the chains. */
    struct entry **chains; /* Array of chains; NULL while `first` is the only chain. */
    struct entry *first, *spare;
};

static struct shard shards[SHARDS];
static atomic_long known;
static bool of_threads;

void requests_of_threads(void) { of_threads = true; }

bool requests_none(void) { return atomic_load_explicit(&known, memory_order_relaxed) == 0; }

static uint64_t hash_of(uintptr_t handle) { return handle * UINT64_C(0x9e3779b97f4a7c15); }

static struct shard *hold(uintptr_t handle)
{
    struct shard *shard = &shards[hash_of(handle) >> (64 - SHARD_BITS)];
    while (atomic_flag_test_and_set_explicit(&shard->held, memory_order_acquire))
        ;
    return shard;
}

static struct entry **chains_of(struct shard *shard) { return shard->chains ? shard->chains : &shard->first; }

static struct entry **chain_of(struct shard *shard, uintptr_t handle)
{
    uint64_t within = hash_of(handle) << SHARD_BITS;
    return chains_of(shard) + (shard->bits ? within >> (64 - shard->bits) : 0);
}

static void give_back(struct shard *shard) { atomic_flag_clear_explicit(&shard->held, memory_order_release); }

/* Doubles the number of chains and keeps the order of their entries. Without memory the chains stay as they
 * are. */
static void grow(struct shard *shard)
{
    size_t number = (size_t)1 << shard->bits;
    struct entry **old = chains_of(shard), **chains = heap_take_zeroed(2 * number, sizeof *chains);
    if (!chains)
        return;
    for (size_t i = 0; i < number; i++) {
        struct entry **ends[2] = {&chains[2 * i], &chains[2 * i + 1]};
        for (struct entry *entry = old[i]; entry; entry = entry->next) {
            struct entry ***end = &ends[hash_of(entry->handle) << SHARD_BITS << shard->bits >> 63];
            **end = entry;
            *end = &entry->next;
        }
        *ends[0] = *ends[1] = NULL;
    }
    heap_give_back(shard->chains);
    shard->chains = chains;
    shard->bits++;
}

static bool stood(const struct entry *entry, double then)
{
    return entry->request.posted <= then && (entry->passed == 0 || entry->passed > then);
}

/* Returns the link to the newest entry of a handle among those made before the time `until`; the end of the
 * chain if there is none. Newer entries come before older ones. */
static struct entry **find(struct shard *shard, uintptr_t handle, double until)
{
    struct entry **place = chain_of(shard, handle);
    while (*place && ((*place)->handle != handle || !stood(*place, until)))
        place = &(*place)->next;
    return place;
}

static struct entry **newest(struct shard *shard, uintptr_t handle)
{
    struct entry **place = chain_of(shard, handle);
    while (*place && (*place)->handle != handle)
        place = &(*place)->next;
    return place;
}

/* Removes the entry. Returns the communicator that it referred to. */
static struct comm *drop(struct shard *shard, struct entry **place)
{
    struct entry *gone = *place;
    if (!gone)
        return NULL;
    *place = gone->next;
    gone->next = shard->spare;
    shard->spare = gone;
    shard->entries--;
    atomic_fetch_sub_explicit(&known, 1, memory_order_relaxed);
    return gone->request.comm;
}

/* Adds an entry for a request and returns it. If allocation fails, returns NULL, and the request is not
 * followed. */
static struct entry *add(struct shard *shard, uintptr_t handle)
{
    if (shard->entries >= (size_t)ENTRIES_PER_CHAIN << shard->bits)
        grow(shard);
    struct entry *entry = shard->spare;
    if (entry)
        shard->spare = entry->next;
    else
        entry = heap_take(sizeof *entry);
    if (!entry)
        return NULL;
    entry->handle = handle;
    struct entry **chain = chain_of(shard, handle);
    entry->next = *chain;
    *chain = entry;
    shard->entries++;
    atomic_fetch_add_explicit(&known, 1, memory_order_relaxed);
    return entry;
}

static struct entry **behind(struct entry **place, uintptr_t handle)
{
    do
        place = &(*place)->next;
    while (*place && (*place)->handle != handle);
    return place;
}

void requests_put(MPI_Request handle, struct request request)
{
    uintptr_t key = (uintptr_t)handle;
    struct shard *shard = hold(key);
    struct entry **before = newest(shard, key);
    struct comm *gone = *before ? drop(shard, behind(before, key)) : NULL;
    struct entry *entry = add(shard, key);
    if (entry) {
        entry->request = request;
        entry->passed = 0;
        comm_hold(request.comm);
    }
    give_back(shard);
    comm_release(gone);
}

void requests_pass(MPI_Request handle, double then)
{
    if (!of_threads || requests_none())
        return;
    struct shard *shard = hold((uintptr_t)handle);
    struct entry *entry = *newest(shard, (uintptr_t)handle);
    if (entry && entry->passed == 0)
        entry->passed = then;
    give_back(shard);
}

bool requests_find(MPI_Request handle, double until, struct request *request)
{
    if (requests_none())
        return false;
    struct shard *shard = hold((uintptr_t)handle);
    const struct entry *entry = *find(shard, (uintptr_t)handle, until);
    if (entry)
        *request = entry->request;
    give_back(shard);
    return entry;
}

void requests_set(MPI_Request handle, bool active, bool may_be_cancelled)
{
    struct shard *shard = hold((uintptr_t)handle);
    struct entry *entry = *find(shard, (uintptr_t)handle, INFINITY);
    if (entry) {
        entry->request.active = active;
        entry->request.may_be_cancelled = may_be_cancelled;
    }
    give_back(shard);
}

void requests_set_number(MPI_Request handle, int64_t number)
{
    struct shard *shard = hold((uintptr_t)handle);
    struct entry *entry = *find(shard, (uintptr_t)handle, INFINITY);
    if (entry)
        entry->request.number = number;
    give_back(shard);
}

void requests_forget(MPI_Request handle, double until)
{
    if (requests_none())
        return;
    struct shard *shard = hold((uintptr_t)handle);
    struct comm *comm = drop(shard, find(shard, (uintptr_t)handle, until));
    give_back(shard);
    comm_release(comm);
}
