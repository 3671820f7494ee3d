/* Calls of I/O functions one by one, for the parts of the library that were asked to record them. */
#ifndef IOLENS_IO_WATCH_H
#define IOLENS_IO_WATCH_H

#include "../runtime/wrap.h"

/* Parts that may want each call. */
enum io_watcher { IO_WATCHER_SITES, IO_WATCHER_WHY, IO_WATCHERS };

/* A call of a module on the file `id` moved `bytes`. */
typedef void io_watcher_fn(const struct call *c, const char *module, uint64_t id, int64_t bytes);

extern bool iolens_io_watched; /* somebody wants the calls */

/* Sets who is told of each call; NULL: nobody. */
void io_watch(enum io_watcher watcher, io_watcher_fn *tell);

void io_watch_tell(const struct call *c, const char *module, uint64_t id, int64_t bytes);

static inline void io_watch_call(const struct call *c, const char *module, uint64_t id, int64_t bytes)
{
    if (__builtin_expect(iolens_io_watched, 0))
        io_watch_tell(c, module, id, bytes);
}

#endif
