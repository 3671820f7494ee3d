#include "rings.h"

#include <sys/mman.h>

#include "../../runtime/context.h"
#include "../../system/large_room.h"
#include "unfollowed.h"

enum {
    RINGS_MOST = 1024
}; /* Number of places for rings; two rings whose descriptors differ by a multiple of it share a place. */

static _Atomic(struct ring *) iolens_rings[RINGS_MOST] LARGE_ROOM;
atomic_bool iolens_rings_used;

static struct ring *ring_at(unsigned fd)
{
    return rings_used() ? atomic_load(&iolens_rings[fd % RINGS_MOST]) : NULL;
}

static struct ring *find(int fd)
{
    struct ring *ring = fd < 0 ? NULL : ring_at((unsigned)fd);
    return ring && ring->fd == fd ? ring : NULL;
}

static const char *map(int fd, size_t bytes, int64_t offset)
{
    long place = system_call(SYS_mmap, 0L, bytes, PROT_READ, MAP_SHARED | MAP_POPULATE, fd, offset);
    if (place == -1)
        return NULL;
    system_call(SYS_madvise, place, bytes, MADV_DONTFORK);
    return (const char *)place;
}

static void unmap(const char *memory, size_t bytes)
{
    if (memory)
        system_call(SYS_munmap, memory, bytes);
}

/* Returns true if the layout is known. Rings in the program's own memory are not followed, because they could
 * disappear unnoticed. */
static bool can_follow(const struct ring_params *params)
{
    return params->features & RING_SINGLE_MAPPING && params->flags < RING_FIRST_UNKNOWN &&
           !(params->flags & (RING_OWN_MEMORY | RING_REGISTERED_ONLY));
}

static const _Atomic uint32_t *word(const char *memory, uint32_t offset)
{
    return (const _Atomic uint32_t *)(const void *)(memory + offset);
}

static unsigned answer_bytes(uint32_t flags)
{
    return flags & RING_LARGE_COMPLETIONS ? 2 * sizeof(struct ring_completion)
                                          : sizeof(struct ring_completion);
}

static unsigned request_bytes(uint32_t flags)
{
    return flags & RING_LARGE_REQUESTS ? 2 * sizeof(struct ring_submission) : sizeof(struct ring_submission);
}

/* Maps a new ring; `memory` is NULL in the result if the kernel refuses. */
static struct ring mapped(int fd, const struct ring_params *params)
{
    const struct ring_submission_offsets *in = &params->submission;
    const struct ring_completion_offsets *out = &params->completion;
    size_t first = in->array + params->submissions * sizeof(uint32_t);
    size_t second = out->completions + (size_t)params->completions * answer_bytes(params->flags);
    struct ring ring = {.fd = fd,
                        .flags = params->flags,
                        .submissions = params->submissions,
                        .completions = params->completions,
                        .bytes = first > second ? first : second,
                        .request_bytes = (size_t)params->submissions * request_bytes(params->flags)};
    ring.memory = map(fd, ring.bytes, RING_MAPS_RINGS);
    ring.requests = ring.memory ? map(fd, ring.request_bytes, RING_MAPS_REQUESTS) : NULL;
    if (!ring.requests) {
        unmap(ring.memory, ring.bytes);
        ring.memory = NULL;
        return ring;
    }
    ring.head = word(ring.memory, in->head);
    ring.tail = word(ring.memory, in->tail);
    ring.array = params->flags & RING_NO_ARRAY ? NULL : word(ring.memory, in->array);
    ring.completed = word(ring.memory, out->tail);
    ring.answers = ring.memory + out->completions;
    ring.submitted = *ring.head;
    ring.answered = *ring.completed;
    return ring;
}

/* Returns the entry of a ring, which is made at the first call; NULL if another ring uses the entry. */
static struct ring *place_of(int fd)
{
    struct ring *ring = ring_at((unsigned)fd), *none = NULL;
    if (!ring && (ring = arena_alloc(&iolens.scratch, sizeof *ring))) {
        ring->fd = -1;
        iolens_rings_used = true;
        if (!atomic_compare_exchange_strong(&iolens_rings[(unsigned)fd % RINGS_MOST], &none, ring))
            ring = none;
    }
    return ring && ring->fd == -1 ? ring : NULL;
}

void rings_follow(int fd, const struct ring_params *params)
{
    struct ring *known = find(fd);
    bool again = known && known->submitted == 0;
    rings_leave(fd);
    struct ring fresh = {0}, *ring = can_follow(params) ? place_of(fd) : NULL;
    if (ring)
        fresh = mapped(fd, params);
    if (!fresh.memory) {
        unfollowed_add(UNFOLLOWED_io_uring);
        return;
    }
    spin_lock(&ring->lock);
    fresh.lock = ring->lock;
    fresh.free = ring->free;
    *ring = fresh;
    spin_unlock(&ring->lock);
    ring_counts_add(RING_COUNT_rings, !again);
    ring_counts_add(RING_COUNT_polled, !again && params->flags & RING_POLLED);
}

static uint32_t distance(const void *base, const void *place)
{
    return place ? (uint32_t)((const char *)place - (const char *)base) : 0;
}

void rings_follow_library(const struct liburing *library)
{
    const char *in = library->submission.memory, *out = library->completion.memory;
    const struct ring_params params = {
        .submissions = *library->submission.entries,
        .completions = *library->completion.entries,
        .flags = library->flags,
        .features = in == out ? library->features : 0,
        .submission = {.head = distance(in, library->submission.head),
                       .tail = distance(in, library->submission.tail),
                       .array = distance(in, library->submission.array)},
        .completion = {.tail = distance(out, library->completion.tail),
                       .completions = distance(out, library->completion.completions)},
    };
    rings_follow(library->fd, &params);
}

/* The functions with "locked" in their names are called with the ring's lock held. */

/* Takes completed requests out of the list of pending ones; the earliest completion comes first. */
static struct ring_request *take_completed_locked(struct ring *ring)
{
    struct ring_request *first = NULL, **last = &first;
    uint32_t end = atomic_load_explicit(ring->completed, memory_order_acquire);
    if (end - ring->answered > ring->completions) {
        ring_counts_add(RING_COUNT_missed, end - ring->answered - ring->completions);
        ring->answered = end - ring->completions;
    }
    for (; ring->answered != end; ring->answered++) {
        struct ring_completion answer;
        bool several = false;
        size_t index = ring->answered & (ring->completions - 1);
        memcpy(&answer, ring->answers + index * answer_bytes(ring->flags), sizeof answer);
        atomic_thread_fence(memory_order_acquire);
        /* Completions may have been overwritten before they could be read. */
        if (*ring->completed - ring->answered > ring->completions) {
            ring_counts_add(RING_COUNT_missed, 1);
            continue;
        }
        struct ring_request *request = ring_requests_take(ring, answer.key, false, &several);
        if (!request)
            continue;
        /* A completion of a request that stays active is recorded with a copy of the request, whose arguments
         * must have been read. */
        if (request->progress == REQUEST_READING && answer.flags & RING_MORE_FOLLOW) {
            ring_requests_add(ring, request);
            break;
        }
        request->result = answer.result;
        ring_counts_add(RING_COUNT_ambiguous, several);
        if (request->progress == REQUEST_READING) {
            request->progress = REQUEST_ANSWERED;
            continue;
        }
        struct ring_request *copy = request;
        if (answer.flags & RING_MORE_FOLLOW) {
            if (!(copy = ring->free))
                copy = arena_alloc(&iolens.scratch, sizeof *copy);
            else
                ring->free = copy->next;
            ring_requests_add(ring, request);
            if (!copy)
                continue;
            *copy = *request;
            copy->continues = true;
        }
        copy->next = NULL;
        *last = copy;
        last = &copy->next;
    }
    return first;
}

static void give_back(struct ring *ring, struct ring_request *request)
{
    spin_lock(&ring->lock);
    request->next = ring->free;
    ring->free = request;
    spin_unlock(&ring->lock);
}

static void look(struct ring *ring, int fd)
{
    spin_lock(&ring->lock);
    struct ring_request *request = ring->fd == fd ? take_completed_locked(ring) : NULL;
    spin_unlock(&ring->lock);
    double now = request ? clock_now(&iolens.clock) : 0;
    while (request) {
        struct ring_request *next = request->next;
        ring_request_end(ring, request, now);
        give_back(ring, request);
        request = next;
    }
}

/* Counts requests that were submitted without being seen, and goes on with the requests after them. */
static void skip_unseen_locked(struct ring *ring, uint32_t head, uint32_t tail)
{
    bool polled = ring->flags & RING_POLLED;
    uint32_t first = polled ? tail - ring->submissions : head;
    int32_t unseen = (int32_t)(first - ring->submitted);
    if (unseen > 0) {
        ring_counts_add(RING_COUNT_unseen, unseen);
        ring->submitted = first;
    }
}

/* Copies the request at a position. Returns false for an index that the kernel will skip as well.
 * Positions from `flushed` on have no entry in the array yet: liburing will use the entry of the same
 * number. */
static bool copy_locked(const struct ring *ring, uint32_t position, uint32_t flushed,
                        struct ring_submission *out)
{
    uint32_t mask = ring->submissions - 1, index = position & mask;
    if (ring->array && (int32_t)(flushed - position) > 0)
        index = atomic_load_explicit(&ring->array[index], memory_order_relaxed);
    if (index > mask)
        return false;
    memcpy(out, ring->requests + (size_t)index * request_bytes(ring->flags), sizeof *out);
    return true;
}

/* Takes the next request before the position `limit`, and copies it into a new entry, by which its completion
 * is found. Returns NULL if there is none left. */
static struct ring_request *next_locked(struct ring *ring, uint32_t limit, uint32_t flushed)
{
    while ((int32_t)(limit - ring->submitted) > 0) {
        struct ring_request *request = ring->free;
        if (request)
            ring->free = request->next;
        else if (!(request = arena_alloc(&iolens.scratch, sizeof *request)))
            return NULL;
        *request = (struct ring_request){0};
        if (copy_locked(ring, ring->submitted++, flushed, &request->asked)) {
            if (!(request->asked.flags & RING_SKIPS_SUCCESS))
                ring_requests_add(ring, request);
            return request;
        }
        request->next = ring->free;
        ring->free = request;
    }
    return NULL;
}

/* Notes the requests up to the position `limit`. Those before the position `flushed` are already in the
 * ring. */
static void note_requests(struct ring *ring, int fd, uint32_t limit, uint32_t flushed)
{
    for (;;) {
        spin_lock(&ring->lock);
        struct ring_request *request = ring->fd == fd ? next_locked(ring, limit, flushed) : NULL;
        spin_unlock(&ring->lock);
        if (!request)
            return;
        ring_counts_add(RING_COUNT_requests, 1);
        ring_request_begin(ring, request);
        bool silent = request->asked.flags & RING_SKIPS_SUCCESS;
        spin_lock(&ring->lock);
        enum ring_progress progress = request->progress;
        request->progress = REQUEST_PENDING;
        spin_unlock(&ring->lock);
        if (!silent && progress == REQUEST_READING)
            continue; /* Another thread may have ended the request by now. */
        if (progress == REQUEST_ANSWERED)
            ring_request_end(ring, request, clock_now(&iolens.clock));
        else
            ring_request_abandon(request);
        give_back(ring, request);
    }
}

/* Notes what is about to be submitted: at most `most` requests from the kernel's position on, or up to
 * `prepared`. Requests of a polled ring may have completed before they are noted. In other rings a request
 * may reuse the key or the slot of a completed one. Calls of several threads at once may each submit requests
 * that another one prepared. `calls` is 1 if the caller will call rings_after, else 0. */
static void before(int fd, uint32_t most, const uint32_t *prepared, uint32_t calls)
{
    struct ring *ring = find(fd);
    uint32_t limit = 0, tail = 0;
    if (!ring)
        return;
    bool polled = ring->flags & RING_POLLED;
    if (!polled)
        look(ring, fd);
    spin_lock(&ring->lock);
    bool here = ring->fd == fd;
    if (here) {
        ring->calls += calls;
        uint32_t head = atomic_load_explicit(ring->head, memory_order_acquire);
        tail = atomic_load_explicit(ring->tail, memory_order_acquire);
        skip_unseen_locked(ring, head, tail);
        bool alone = calls == 0 || ring->calls == 1;
        limit = polled || !alone || tail - head < most ? tail : head + most;
        limit = prepared ? *prepared : limit;
        /* The kernel takes at most as many requests as the ring has room for. */
        if (limit - head > ring->submissions)
            limit = head + ring->submissions;
    }
    spin_unlock(&ring->lock);
    if (here)
        note_requests(ring, fd, limit, tail);
    if (polled)
        look(ring, fd);
}

void rings_before(int fd, uint32_t submitted) { before(fd, submitted, NULL, 1); }

void rings_before_library(const struct liburing *library, bool flushes)
{
    /* On old kernels, a wait with a limit submits a time-out request of its own. */
    bool old = !(library->features & RING_WAIT_ARGUMENT);
    before(library->fd, UINT32_MAX, flushes || old ? &library->submission.prepared : NULL, 1);
}

/* Returns the latest request that the kernel did not take, and moves the position of submission back before
 * it. Returns NULL if the kernel took all requests, or if a call of another thread may still submit them. */
static struct ring_request *take_refused_locked(struct ring *ring)
{
    struct ring_submission asked;
    bool several = false;
    uint32_t head = atomic_load_explicit(ring->head, memory_order_acquire);
    uint32_t tail = atomic_load_explicit(ring->tail, memory_order_acquire);
    while (!(ring->flags & RING_POLLED) && ring->calls == 0 && (int32_t)(ring->submitted - head) > 0) {
        bool silent = !copy_locked(ring, --ring->submitted, tail, &asked) || asked.flags & RING_SKIPS_SUCCESS;
        struct ring_request *request = silent ? NULL : ring_requests_take(ring, asked.key, true, &several);
        if (request)
            return request;
    }
    return NULL;
}

void rings_after(int fd)
{
    struct ring *ring = find(fd);
    if (!ring)
        return;
    spin_lock(&ring->lock);
    ring->calls -= ring->fd == fd && ring->calls > 0;
    spin_unlock(&ring->lock);
    for (;;) {
        spin_lock(&ring->lock);
        struct ring_request *refused = ring->fd == fd ? take_refused_locked(ring) : NULL;
        spin_unlock(&ring->lock);
        if (!refused)
            break;
        ring_counts_add(RING_COUNT_requests, -1);
        ring_request_undo(refused);
        give_back(ring, refused);
    }
    look(ring, fd);
}

/* Looks at the ring for the last time, and counts the requests that were submitted unseen or have not
 * completed. */
static void finish(struct ring *ring, int fd)
{
    before(fd, 0, NULL, 0);
    for (int i = 0; i < RING_BUCKETS; i++)
        for (;;) {
            spin_lock(&ring->lock);
            struct ring_request *request = ring->fd == fd ? ring->pending[i].first : NULL;
            bool in_use = request && request->progress == REQUEST_READING;
            if (request)
                ring->pending[i].first = request->next;
            if (in_use)
                request->progress = REQUEST_LEFT;
            spin_unlock(&ring->lock);
            if (!request)
                break;
            if (in_use)
                continue;
            ring_request_abandon(request);
            give_back(ring, request);
        }
}

void rings_leave(int fd)
{
    struct ring *ring = find(fd);
    if (!ring)
        return;
    finish(ring, fd);
    ring_files_resize(ring, 0);
    spin_lock(&ring->lock);
    struct ring left = *ring;
    if (left.fd == fd)
        ring->fd = -1;
    spin_unlock(&ring->lock);
    if (left.fd != fd)
        return;
    unmap(left.memory, left.bytes);
    unmap(left.requests, left.request_bytes);
}

void rings_leave_range(unsigned first, unsigned last)
{
    for (int i = 0; iolens_rings_used && i < RINGS_MOST; i++) {
        struct ring *ring = ring_at((unsigned)i);
        if (ring && ring->fd >= 0 && (unsigned)ring->fd >= first && (unsigned)ring->fd <= last)
            rings_leave(ring->fd);
    }
}

void rings_on_dup(int copy, int fd)
{
    if (copy == fd)
        return;
    rings_leave(copy);
    if (find(fd))
        unfollowed_add(UNFOLLOWED_io_uring);
}

void rings_on_register(int fd, unsigned operation, const void *argument, unsigned count)
{
    struct ring *ring = find(fd);
    const struct ring_file_table *table = argument;
    const struct ring_file_update *update = argument;
    if (!ring)
        return;
    /* Completions are read before the table changes, because requests that completed earlier used the files
     * that it had then. */
    before(fd, 0, NULL, 0);
    switch (operation) {
    case RING_REGISTER_FILES:
        ring_files_resize(ring, count);
        ring_files_set(ring, 0, argument, count);
        return;
    case RING_REGISTER_FILES2:
        ring_files_resize(ring, table->files);
        if (table->fds)
            ring_files_set(ring, 0, (const int *)(uintptr_t)table->fds, table->files);
        return;
    case RING_UNREGISTER_FILES:
        ring_files_resize(ring, 0);
        return;
    case RING_REGISTER_FILES_UPDATE:
        ring_files_set(ring, update->first, (const int *)(uintptr_t)update->fds, count);
        return;
    case RING_REGISTER_FILES_UPDATE2:
        ring_files_set(ring, update->first, (const int *)(uintptr_t)update->fds, update->files);
        return;
    /* After the resize the mappings show the old rings, which are no longer used. */
    case RING_REGISTER_RESIZE:
        rings_leave(fd);
        unfollowed_add(UNFOLLOWED_io_uring);
        return;
    default:
        return;
    }
}

void rings_end(void)
{
    for (int i = 0; iolens_rings_used && i < RINGS_MOST; i++) {
        struct ring *ring = ring_at((unsigned)i);
        if (ring && ring->fd >= 0)
            finish(ring, ring->fd);
    }
}

void rings_reset(void)
{
    if (iolens_rings_used)
        memset(iolens_rings, 0, sizeof iolens_rings);
    iolens_rings_used = false;
}
