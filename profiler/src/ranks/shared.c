#include "shared.h"

#include "../memory/buffer.h"
#include "../runtime/context.h"

/* Bit m: the file has a state of module m, whose records of several ranks may become one. */
static uint32_t mergeable(const struct file *file)
{
    uint32_t bits = 0;
    for (int m = 0; file && m < MODULE_COUNT; m++)
        bits |= (uint32_t)(file->state[m] && !modules[m]->per_rank) << m;
    return bits;
}

/* On all ranks: the ids of rank 0's files. */
static int send_ids(const struct iolens_transport *transport, struct buffer *ids)
{
    if (transport->rank == 0)
        for (struct file *file = iolens_registry.first; file; file = file->next)
            if (mergeable(file))
                buffer_put(ids, &file->id, sizeof file->id);
    uint64_t bytes = ids->failed ? 0 : ids->used;
    if (transport->bcast(&bytes, sizeof bytes, 0) != 0)
        return -1;
    if (transport->rank != 0)
        buffer_add(ids, bytes);
    if (bytes == 0 || ids->failed)
        return ids->failed ? -1 : 0;
    return transport->bcast(ids->data, bytes, 0);
}

/* The chain keeps the order of `ids`. */
static void chain(const uint64_t *ids, const uint32_t *bits, size_t count)
{
    struct file **last = &iolens_registry.shared;
    for (size_t i = 0; i < count; i++) {
        struct file *file = bits[i] ? registry_find(ids[i]) : NULL;
        if (!file)
            continue;
        file->shared = bits[i];
        file->next_shared = NULL;
        *last = file;
        last = &file->next_shared;
    }
}

int shared_find(const struct iolens_transport *transport)
{
    struct buffer ids = {0}, votes = {0};
    int result = send_ids(transport, &ids);
    size_t count = result == 0 ? ids.used / sizeof(uint64_t) : 0;
    const uint64_t *id = (const uint64_t *)ids.data;
    uint32_t *bits = buffer_add(&votes, count * sizeof *bits + 1);
    if (!bits)
        result = -1;
    for (size_t i = 0; result == 0 && i < count; i++)
        bits[i] = mergeable(registry_find(id[i]));
    if (result == 0 && count > 0)
        result = transport->allreduce(bits, count * sizeof *bits, IOLENS_UINT8, IOLENS_BAND);
    if (result == 0)
        chain(id, bits, count);
    buffer_free(&ids);
    buffer_free(&votes);
    return result;
}

static struct file *from(struct file *file, enum module_index module)
{
    while (file && !shared_by_all(file, module))
        file = file->next_shared;
    return file;
}

struct file *shared_first(enum module_index module) { return from(iolens_registry.shared, module); }

struct file *shared_next(const struct file *file, enum module_index module)
{
    return from(file->next_shared, module);
}
