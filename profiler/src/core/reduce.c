#include "reduce.h"

#include <string.h>

#include "context.h"
#include "shared.h"

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

static void combine_staged(const void *in, void *inout)
{
    const struct staged *lower = in;
    struct staged *higher = inout;
    shape_merge(modules[lower->module]->shape, lower->record, higher->record);
    spread_merge(&lower->spread, &higher->spread);
}

static int merge_shared(const struct iolens_transport *transport, enum module_index module,
                        struct buffer *part)
{
    const struct record_shape *shape = modules[module]->shape;
    size_t bytes = shape_bytes(shape), stride = sizeof(struct staged) + bytes;
    struct buffer stage = {0};
    for (struct file *file = shared_first(module); file; file = shared_next(file, module)) {
        struct staged *item = buffer_add(&stage, stride);
        if (!item)
            break;
        item->module = module;
        memcpy(item->record, file->state[module], bytes);
        shape_share(shape, item->record, transport->rank, &item->spread);
    }
    char *staged = stage.data;
    size_t count = stage.used / stride;
    int result = stage.failed ? -1 : 0;
    if (result == 0 && count > 0)
        result = transport->reduce_records(staged, stride, count, combine_staged);
    for (size_t i = 0; result == 0 && transport->rank == 0 && i < count; i++) {
        struct staged *item = (struct staged *)(staged + i * stride);
        shape_finish_shared(shape, item->record, &item->spread);
        buffer_put(part, item->record, bytes);
    }
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
        bool shared = shared_by_all(file, module);
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
