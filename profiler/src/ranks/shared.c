#include "shared.h"

#include "../memory/buffer.h"
#include "../runtime/context.h"

/* Returns bits: bit m is set if the file has a state of module m, whose records of several ranks can be
 * merged. */
static uint32_t mergeable(const struct file *file)
{
    uint32_t bits = 0;
    for (int m = 0; file && m < MODULE_COUNT; m++)
        bits |= (uint32_t)(file->state[m] && !modules[m]->per_rank) << m;
    return bits;
}

size_t shared_candidates(void)
{
    size_t count = 0;
    for (const struct file *file = iolens_registry.first; file; file = file->next)
        count += mergeable(file) != 0;
    return count;
}

/* Sends the ids of rank 0's files to all ranks. */
static int send_ids(const struct iolens_transport *transport, uint64_t *ids, size_t count)
{
    size_t found = 0;
    for (const struct file *file = transport->rank == 0 ? iolens_registry.first : NULL; file && found < count;
         file = file->next)
        if (mergeable(file))
            ids[found++] = file->id;
    return transport->bcast(ids, count * sizeof *ids, 0);
}

/* Links the shared files in the order of `ids`. */
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

int shared_find(const struct iolens_transport *transport, size_t count)
{
    struct buffer ids = {0}, votes = {0};
    uint64_t *id = buffer_add(&ids, count * sizeof *id + 1);
    uint32_t *bits = buffer_add(&votes, count * sizeof *bits + 1);
    int result = id && bits ? 0 : -1;
    if (result == 0 && count > 0)
        result = send_ids(transport, id, count);
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
