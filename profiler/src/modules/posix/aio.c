#include "../../runtime/context.h"
#include "posix.h"

static struct aio iolens_aio;

static struct aio_request **bucket_of(const void *control)
{
    uintptr_t address = (uintptr_t)control;
    return &iolens_aio.buckets[(address >> 4 ^ address >> 12) % AIO_BUCKETS];
}

void aio_add(struct aio_request request)
{
    spin_lock(&iolens_aio.lock);
    struct aio_request *entry = iolens_aio.free;
    if (entry)
        iolens_aio.free = entry->next;
    else
        entry = arena_alloc(&iolens.scratch, sizeof *entry);
    if (entry) {
        struct aio_request **bucket = bucket_of(request.control);
        *entry = request;
        entry->next = *bucket;
        *bucket = entry;
    }
    spin_unlock(&iolens_aio.lock);
}

bool aio_take(const void *control, struct aio_request *request)
{
    spin_lock(&iolens_aio.lock);
    struct aio_request **link = bucket_of(control), *found;
    while (*link && (*link)->control != control)
        link = &(*link)->next;
    if ((found = *link)) {
        *request = *found;
        *link = found->next;
        found->next = iolens_aio.free;
        iolens_aio.free = found;
    }
    spin_unlock(&iolens_aio.lock);
    return found != NULL;
}

void aio_reset(void) { iolens_aio = (struct aio){.lock.held = ATOMIC_FLAG_INIT}; }
