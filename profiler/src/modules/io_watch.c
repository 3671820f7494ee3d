#include "io_watch.h"

bool iolens_io_watched;
static io_watcher_fn *iolens_io_watchers[IO_WATCHERS];

void io_watch(enum io_watcher watcher, io_watcher_fn *tell)
{
    iolens_io_watchers[watcher] = tell;
    iolens_io_watched = false;
    for (int i = 0; i < IO_WATCHERS; i++)
        iolens_io_watched |= iolens_io_watchers[i] != NULL;
}

void io_watch_tell(const struct call *c, const char *module, uint64_t id, int64_t bytes)
{
    for (int i = 0; i < IO_WATCHERS; i++)
        if (iolens_io_watchers[i])
            iolens_io_watchers[i](c, module, id, bytes);
}
