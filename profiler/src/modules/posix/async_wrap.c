/* The wrappers of async.def. */
#include <signal.h>

#include "../../files/fds.h"
#include "../../sampling/sampling.h"
#include "async.h"
#include "calls/row.h"
#include "posix.h"
#include "rings.h"
#include "unfollowed.h"

struct io_context;
struct __kernel_timespec;

#define TYPE_context(_)  struct io_context *
#define TYPE_count(_)    long
#define TYPE_controls(_) struct iocb **
#define TYPE_least(_)    long
#define TYPE_most(_)     long
#define TYPE_events(_)   struct io_event *
#define TYPE_limit(_)    struct timespec *
#define TYPE_mask(_)     sigset_t *
#define TYPE_entries(_)  unsigned
#define TYPE_flags(_)    unsigned
#define TYPE_memory(_)   void *
#define TYPE_bytes(_)    size_t

#define TYPE_ring(_)             struct liburing *
#define TYPE_ring_fd(_)          unsigned
#define TYPE_ring_limit(_)       struct __kernel_timespec *
#define TYPE_params(_)           struct ring_params *
#define TYPE_completions(_)      struct ring_completion **
#define TYPE_most_completions(_) unsigned
#define TYPE_submitted(_)        unsigned
#define TYPE_wanted(_)           unsigned
#define TYPE_least_time(_)       unsigned
#define TYPE_wait_place(_)       int
#define TYPE_operation(_)        unsigned
#define TYPE_argument(_)         void *
#define TYPE_first(_)            unsigned
#define TYPE_files(_)            unsigned
#define TYPE_fds(_)              const int *
#define TYPE_tags(_)             const uint64_t *

#define ON_SUBMIT(...)                                                                                       \
    FNB(__VA_ARGS__, async_before_submit(count, controls), async_on_submit(ret, count, controls))
#define ON_GETEVENTS(...)                                                                                    \
    FNB(__VA_ARGS__, c.mark = sampling_hold(NULL),                                                           \
        (sampling_release(c.mark), async_on_events(&c, ret, events)))
#define ON_PGETEVENTS(ret_t, name, params, args)                                                             \
    ON_GETEVENTS(ret_t, name, params,                                                                        \
                 (context, least, most, events, limit, held_mask(mask, &(sigset_t){{0}})))

#define HELD_MASK held_mask(mask, &(sigset_t){{0}})

/* Wraps a call that may wait in a ring. The signal of the sampling timers is blocked during the wait. */
#define RING_CALL(ret_t, name, params, args, before, waits, fd)                                              \
    FNB(ret_t, name, params, args, (before, c.mark = (waits) && HOLD(REAL(name))),                           \
        (sampling_release(c.mark), rings_after((int)(fd))))
#define ON_LIBRARY(flushes, waits, ret_t, name, params, args)                                                \
    RING_CALL(ret_t, name, params, args, rings_before_library(ring, flushes), waits, ring->fd)
#define ON_RING_SUBMIT(...)      ON_LIBRARY(true, false, __VA_ARGS__)
#define ON_RING_SUBMIT_WAIT(...) ON_LIBRARY(true, wanted > 0, __VA_ARGS__)
#define ON_RING_LOOK(...)        ON_LIBRARY(false, false, __VA_ARGS__)
#define ON_RING_LIMIT(...)       ON_LIBRARY(false, true, __VA_ARGS__)
#define ON_MASKED(flushes, ret_t, name, params, ...)                                                         \
    ON_LIBRARY(flushes, wanted > 0, ret_t, name, params, (ring, completions, __VA_ARGS__, HELD_MASK))
#define ON_RING_SUBMIT_MASK(ret_t, name, params, args)                                                       \
    ON_MASKED(true, ret_t, name, params, wanted, ring_limit)
#define ON_RING_SUBMIT_LEAST(ret_t, name, params, args)                                                      \
    ON_MASKED(true, ret_t, name, params, wanted, ring_limit, least_time)
#define ON_RING_GET(ret_t, name, params, args)  ON_MASKED(false, ret_t, name, params, submitted, wanted)
#define ON_RING_MASK(ret_t, name, params, args) ON_MASKED(false, ret_t, name, params, wanted, ring_limit)
#define ON_RING_LEAST(ret_t, name, params, args)                                                             \
    ON_MASKED(false, ret_t, name, params, wanted, ring_limit, least_time)

#define RING_FD (flags & RING_ENTERS_REGISTERED ? -1 : (int)ring_fd)
#define ON_RING_ENTER2(ret_t, name, params, args)                                                            \
    RING_CALL(ret_t, name, params, args, rings_before(RING_FD, submitted), wanted > 0, RING_FD)
#define ON_RING_ENTER(ret_t, name, params, args)                                                             \
    ON_RING_ENTER2(ret_t, name, params, (ring_fd, submitted, wanted, flags, HELD_MASK))

#define ON_RING_INIT(...)                                                                                    \
    FN(__VA_ARGS__, if (ret >= 0)(fds_fresh(ring->fd, false), rings_follow_library(ring)))
#define ON_RING_SETUP(...)                      FN(__VA_ARGS__, if (ret >= 0)(fds_fresh(ret, false), rings_follow(ret, params)))
#define ON_RING_EXIT(ret_t, name, params, args) FNB(ret_t, name, params, args, rings_leave(ring->fd), (void)0)
#define ON_RING_MOVE(...)                                                                                    \
    FNB(__VA_ARGS__, rings_leave(ring->fd), if (ret >= 0) unfollowed_add(UNFOLLOWED_io_uring))
#define ON_FILES(operation, argument, count, ...)                                                            \
    FN(__VA_ARGS__, if (ret >= 0) rings_on_register(ring->fd, operation, argument, count))
#define ON_RING_FILES(...)    ON_FILES(RING_REGISTER_FILES, fds, files, __VA_ARGS__)
#define ON_RING_NO_FILES(...) ON_FILES(RING_UNREGISTER_FILES, NULL, 0, __VA_ARGS__)
#define ON_RING_SPARSE(...)                                                                                  \
    ON_FILES(RING_REGISTER_FILES2, (&(struct ring_file_table){.files = files}), 1, __VA_ARGS__)
#define ON_RING_UPDATE(...)                                                                                  \
    ON_FILES(RING_REGISTER_FILES_UPDATE,                                                                     \
             (&(struct ring_file_update){.first = first, .fds = (uintptr_t)fds}), files, __VA_ARGS__)
#define ON_RING_REGISTER(...)                                                                                \
    FN(__VA_ARGS__, if (ret >= 0) rings_on_register((int)ring_fd, operation, argument, files))

#define WRAP_TABLE "profiler/src/modules/posix/async.def"
#include "../../runtime/wrap_expand.h"
