#include "aio.h"

#include <stdint.h>

#include "../core/context.h"

static struct aio_request **bucket_of(const void *control)
{
    uintptr_t address = (uintptr_t)control;
    return &iolens.aio.buckets[(address >> 4 ^ address >> 12) % AIO_BUCKETS];
}

void aio_add(const void *control, void *state, int direction, double submitted)
{
    spin_lock(&iolens.aio.lock);
    struct aio_request *request = iolens.aio.free;
    if (request)
        iolens.aio.free = request->next;
    else
        request = arena_alloc(&iolens.scratch, sizeof *request);
    if (request) {
        struct aio_request **bucket = bucket_of(control);
        *request = (struct aio_request){control, state, direction, submitted, *bucket};
        *bucket = request;
    }
    spin_unlock(&iolens.aio.lock);
}

bool aio_take(const void *control, struct aio_request *request)
{
    spin_lock(&iolens.aio.lock);
    struct aio_request **link = bucket_of(control), *found;
    while (*link && (*link)->control != control)
        link = &(*link)->next;
    if ((found = *link)) {
        *request = *found;
        *link = found->next;
        found->next = iolens.aio.free;
        iolens.aio.free = found;
    }
    spin_unlock(&iolens.aio.lock);
    return found != NULL;
}
