/* A ring of io_uring made and used by numbered system calls, as programs without liburing do. */
#ifndef RAW_RING_H
#define RAW_RING_H

#include <linux/io_uring.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/uio.h>

struct raw_ring {
    struct io_uring_params params;
    int fd;
    unsigned tail; /* Position in the submission ring up to which requests have been prepared. */
    _Atomic unsigned *head_in, *tail_in, *head_out, *tail_out;
    unsigned *array;
    struct io_uring_sqe *requests;
    struct io_uring_cqe *completions;
};

/* Returns false if the kernel makes no rings, with the reason on standard output. */
static bool raw_ring_open(struct raw_ring *ring, unsigned depth, unsigned flags)
{
    enum {
        SLEEPS_AFTER_MS = 10000
    }; /* Time for which the kernel's thread that takes requests (IORING_SETUP_SQPOLL) looks for new ones
          before it sleeps. */
    *ring = (struct raw_ring){.params.flags = flags, .params.sq_thread_idle = SLEEPS_AFTER_MS};
    ring->fd = (int)syscall(SYS_io_uring_setup, (long)depth, &ring->params);
    if (ring->fd < 0) {
        dprintf(1, "none: %s\n", strerror(errno));
        return false;
    }
    const struct io_uring_params *p = &ring->params;
    size_t first = p->sq_off.array + p->sq_entries * sizeof(unsigned);
    size_t second = p->cq_off.cqes + p->cq_entries * sizeof *ring->completions;
    char *at = mmap(NULL, first > second ? first : second, PROT_READ | PROT_WRITE, MAP_SHARED, ring->fd,
                    (off_t)IORING_OFF_SQ_RING);
    ring->requests = mmap(NULL, p->sq_entries * sizeof *ring->requests, PROT_READ | PROT_WRITE, MAP_SHARED,
                          ring->fd, (off_t)IORING_OFF_SQES);
    MUST(at != MAP_FAILED && (void *)ring->requests != MAP_FAILED);
    ring->head_in = (void *)(at + p->sq_off.head);
    ring->tail_in = (void *)(at + p->sq_off.tail);
    ring->array = (void *)(at + p->sq_off.array);
    ring->head_out = (void *)(at + p->cq_off.head);
    ring->tail_out = (void *)(at + p->cq_off.tail);
    ring->completions = (void *)(at + p->cq_off.cqes);
    return true;
}

/* Returns a request to be filled in. The ring's array lists the places of requests in reverse order, as
 * io_uring allows. */
static struct io_uring_sqe *raw_ring_prepare(struct raw_ring *ring, int operation, int fd, const void *memory,
                                             unsigned bytes, int64_t offset, uint64_t key)
{
    unsigned mask = ring->params.sq_entries - 1, index = mask - (ring->tail & mask);
    struct io_uring_sqe *request = &ring->requests[index];
    *request = (struct io_uring_sqe){.opcode = (uint8_t)operation,
                                     .fd = fd,
                                     .addr = (uintptr_t)memory,
                                     .len = bytes,
                                     .off = (uint64_t)offset,
                                     .user_data = key};
    ring->array[ring->tail++ & mask] = index;
    return request;
}

/* Returns how many requests the kernel took of the `most` that it was given. */
static int raw_ring_enter(struct raw_ring *ring, unsigned most, unsigned wanted)
{
    atomic_store_explicit(ring->tail_in, ring->tail, memory_order_release);
    long taken = syscall(SYS_io_uring_enter, (long)ring->fd, (long)most, (long)wanted,
                         (long)(wanted ? IORING_ENTER_GETEVENTS : 0), NULL, 0L);
    MUST(taken >= 0);
    return (int)taken;
}

/* Takes a completion from the ring without a system call; returns false if there is none. */
static bool raw_ring_take(struct raw_ring *ring, struct io_uring_cqe *completion)
{
    unsigned head = *ring->head_out;
    if (head == atomic_load_explicit(ring->tail_out, memory_order_acquire))
        return false;
    *completion = ring->completions[head & (ring->params.cq_entries - 1)];
    atomic_store_explicit(ring->head_out, head + 1, memory_order_release);
    return true;
}

#endif
