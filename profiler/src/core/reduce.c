#include "reduce.h"

#include <string.h>

#include "context.h"

/* A shared record on its way through the ranks. */
struct staged {
    int64_t module;
    struct spread spread;
    char record[];
};

static void finish_state(const struct module *type, void *state)
{
    if (type->finish)
        type->finish(state);
}

static void correct_state(const struct module *type, void *state, const struct timeline *line)
{
    if (type->shape)
        shape_correct_times(type->shape, state, line);
    if (type->correct)
        type->correct(state, line);
}

void reduce_finish_states(int64_t rank, const struct timeline *line)
{
    for (struct file *file = iolens.registry.first; file; file = file->next)
        for (int m = 0; m < MODULE_COUNT; m++)
            if (file->state[m])
                finish_state(modules[m], file->state[m]);
    for (struct file *file = iolens.registry.first; file; file = file->next) {
        for (int m = 0; m < MODULE_COUNT; m++) {
            void *state = file->state[m];
            if (!state)
                continue;
            if (modules[m]->shape)
                *(struct record_base *)state = (struct record_base){file->id, rank};
            correct_state(modules[m], state, line);
        }
    }
}

static void collect_ids(enum module_index module, struct buffer *ids)
{
    for (struct file *file = iolens.registry.first; file; file = file->next)
        if (file->state[module])
            buffer_put(ids, &file->id, sizeof file->id);
}

static struct file *user_of(uint64_t id, enum module_index module)
{
    struct file *file = registry_find(id);
    return file && file->state[module] ? file : NULL;
}

static void add_shared(struct file *file, enum module_index module)
{
    file->shared |= 1u << module;
    file->next_shared[module] = iolens.registry.shared[module];
    iolens.registry.shared[module] = file;
}

int reduce_mark_shared(const struct iolens_transport *transport, enum module_index module)
{
    struct buffer ids = {0}, used = {0};
    if (modules[module]->per_rank)
        return 0;
    if (transport->rank == 0)
        collect_ids(module, &ids);
    uint64_t bytes = ids.used;
    if (transport->bcast(&bytes, sizeof bytes, 0) != 0)
        return -1;
    if (transport->rank != 0)
        buffer_add(&ids, bytes);
    size_t count = bytes / sizeof(uint64_t);
    unsigned char *everywhere = buffer_add(&used, count + 1);
    const uint64_t *id = (const uint64_t *)ids.data;
    int result = ids.failed || used.failed ? -1 : 0;
    if (result == 0 && count > 0)
        result = transport->bcast(ids.data, bytes, 0);
    for (size_t i = 0; result == 0 && i < count; i++)
        everywhere[i] = user_of(id[i], module) != NULL;
    if (result == 0 && count > 0)
        result = transport->allreduce(everywhere, count, IOLENS_UINT8, IOLENS_BAND);
    for (size_t i = 0; result == 0 && i < count; i++)
        if (everywhere[i])
            add_shared(registry_find(id[i]), module);
    buffer_free(&ids);
    buffer_free(&used);
    return result;
}

static void combine_staged(const void *in, void *inout)
{
    const struct staged *lower = in;
    struct staged *higher = inout;
    shape_merge(modules[lower->module]->shape, lower->record, higher->record);
    spread_merge(&lower->spread, &higher->spread);
}

static bool is_shared(const struct file *file, enum module_index module)
{
    return file->shared >> module & 1;
}

/* The shared files in an order that is the same on all ranks: along a chain that reduce_mark_shared made. */
static size_t list_shared(enum module_index module, struct buffer *list)
{
    for (struct file *file = iolens.registry.shared[module]; file; file = file->next_shared[module])
        buffer_put(list, &file, sizeof(struct file *));
    return list->used / sizeof(struct file *);
}

static int merge_shared(const struct iolens_transport *transport, enum module_index module,
                        struct buffer *part)
{
    const struct record_shape *shape = modules[module]->shape;
    size_t bytes = shape_bytes(shape), stride = sizeof(struct staged) + bytes;
    struct buffer list = {0}, stage = {0};
    size_t count = list_shared(module, &list);
    char *staged = buffer_add(&stage, count * stride + 1);
    int result = list.failed || !staged ? -1 : 0;
    for (size_t i = 0; result == 0 && i < count; i++) {
        struct staged *item = (struct staged *)(staged + i * stride);
        item->module = module;
        memcpy(item->record, ((struct file **)list.data)[i]->state[module], bytes);
        shape_share(shape, item->record, transport->rank, &item->spread);
    }
    if (result == 0 && count > 0)
        result = transport->reduce_records(staged, stride, count, combine_staged);
    for (size_t i = 0; result == 0 && transport->rank == 0 && i < count; i++) {
        struct staged *item = (struct staged *)(staged + i * stride);
        shape_finish_shared(shape, item->record, &item->spread);
        buffer_put(part, item->record, bytes);
    }
    buffer_free(&list);
    buffer_free(&stage);
    return result;
}

/* Records of varying size are not merged: rank 0's stands for all. */
static void add_varying(const struct module *type, const struct file *file, const void *state, int64_t rank,
                        struct buffer *part)
{
    size_t bytes = type->serialize(state, file, rank, NULL);
    void *room = bytes ? buffer_add(part, bytes) : NULL;
    if (room)
        type->serialize(state, file, rank, room);
}

int reduce_records(const struct iolens_transport *transport, enum module_index module, struct buffer *part)
{
    const struct module *type = modules[module];
    for (struct file *file = iolens.registry.first; file; file = file->next) {
        const void *state = file->state[module];
        bool shared = is_shared(file, module);
        if (!state || (shared && (type->shape || transport->rank != 0)))
            continue;
        if (type->shape)
            buffer_put(part, state, shape_bytes(type->shape));
        else
            add_varying(type, file, state, shared ? -1 : transport->rank, part);
    }
    return type->shape ? merge_shared(transport, module, part) : 0;
}

void reduce_names(int rank, struct buffer *part)
{
    for (struct file *file = iolens.registry.first; file; file = file->next) {
        bool used = file->extra != NULL;
        for (int m = 0; m < MODULE_COUNT; m++)
            used |= file->state[m] != NULL;
        if (!used || (file->shared && rank != 0))
            continue;
        buffer_put(part, &file->id, sizeof file->id);
        buffer_put(part, file->path, strlen(file->path) + 1);
    }
}
