#include "requests.h"

#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>

enum { BUCKETS = 1024 }; /* a power of two */

struct entry {
    struct entry *next;
    uintptr_t handle;
    struct request request;
};

struct bucket {
    atomic_flag held;
    struct entry *used, *spare;
};

static struct bucket buckets[BUCKETS];
static atomic_long known;

bool requests_none(void) { return atomic_load_explicit(&known, memory_order_relaxed) == 0; }

static struct bucket *hold(uintptr_t handle)
{
    struct bucket *bucket = &buckets[handle * UINT64_C(0x9e3779b97f4a7c15) >> 54];
    while (atomic_flag_test_and_set_explicit(&bucket->held, memory_order_acquire))
        ;
    return bucket;
}

static void give_back(struct bucket *bucket)
{
    atomic_flag_clear_explicit(&bucket->held, memory_order_release);
}

/* Where the entry hangs; newer ones stand in front of older ones. */
static struct entry **find(struct bucket *bucket, uintptr_t handle, double until)
{
    struct entry **place = &bucket->used;
    while (*place && ((*place)->handle != handle || (*place)->request.posted > until))
        place = &(*place)->next;
    return place;
}

/* Take it out. Returns the communicator that it held. */
static struct comm *drop(struct bucket *bucket, struct entry **place)
{
    struct entry *gone = *place;
    if (!gone)
        return NULL;
    *place = gone->next;
    gone->next = bucket->spare;
    bucket->spare = gone;
    atomic_fetch_sub_explicit(&known, 1, memory_order_relaxed);
    return gone->request.comm;
}

/* Without memory the request is not followed. */
static struct entry *add(struct bucket *bucket, uintptr_t handle)
{
    struct entry *entry = bucket->spare;
    if (entry)
        bucket->spare = entry->next;
    else
        entry = malloc(sizeof *entry);
    if (!entry)
        return NULL;
    entry->handle = handle;
    entry->next = bucket->used;
    bucket->used = entry;
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
    struct bucket *bucket = hold(key);
    struct entry **before = find(bucket, key, INFINITY);
    struct comm *gone = *before ? drop(bucket, behind(before, key)) : NULL;
    struct entry *entry = add(bucket, key);
    if (entry) {
        entry->request = request;
        comm_hold(request.comm);
    }
    give_back(bucket);
    comm_release(gone);
}

bool requests_find(MPI_Request handle, double until, struct request *request)
{
    if (requests_none())
        return false;
    struct bucket *bucket = hold((uintptr_t)handle);
    const struct entry *entry = *find(bucket, (uintptr_t)handle, until);
    if (entry)
        *request = entry->request;
    give_back(bucket);
    return entry;
}

void requests_set(MPI_Request handle, bool active, bool may_be_cancelled)
{
    struct bucket *bucket = hold((uintptr_t)handle);
    struct entry *entry = *find(bucket, (uintptr_t)handle, INFINITY);
    if (entry) {
        entry->request.active = active;
        entry->request.may_be_cancelled = may_be_cancelled;
    }
    give_back(bucket);
}

void requests_forget(MPI_Request handle, double until)
{
    if (requests_none())
        return;
    struct bucket *bucket = hold((uintptr_t)handle);
    struct comm *comm = drop(bucket, find(bucket, (uintptr_t)handle, until));
    give_back(bucket);
    comm_release(comm);
}
