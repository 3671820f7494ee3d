/* Lets other parts of the library see each I/O call as it happens. */
#ifndef IOLENS_IO_WATCH_H
#define IOLENS_IO_WATCH_H

#include "../runtime/wrap.h"

/* Parts of the library that can ask to see each call. */
enum io_watcher { IO_WATCHER_SITES, IO_WATCHER_WHY, IO_WATCHERS };

/* Receives a call in which a module moved `bytes` of the file `id`. */
typedef void io_watcher_fn(const struct call *c, const char *module, uint64_t id, int64_t bytes);

extern bool iolens_io_watched; /* True if some part asked to see the calls. */

/* Sets the function that receives each call of a part; NULL: none. */
void io_watch(enum io_watcher watcher, io_watcher_fn *tell);

void io_watch_tell(const struct call *c, const char *module, uint64_t id, int64_t bytes);

static inline void io_watch_call(const struct call *c, const char *module, uint64_t id, int64_t bytes)
{
    if (__builtin_expect(iolens_io_watched, 0))
        io_watch_tell(c, module, id, bytes);
}

#endif
