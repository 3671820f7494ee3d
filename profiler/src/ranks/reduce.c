#include "reduce.h"

#include <string.h>

#include "../runtime/context.h"
#include "shared.h"

/* A shared record on its way through the ranks. */
struct staged {
    int64_t module;
    struct spread spread;
    char record[];
};

void reduce_flush_states(void)
{
    for (int m = 0; m < MODULE_COUNT; m++)
        for (struct file *file = modules[m]->flush ? registry_first(m) : NULL; file;
             file = registry_next(file, m))
            modules[m]->flush(file->state[m]);
    for (int m = 0; m < MODULE_COUNT; m++)
        for (struct file *file = modules[m]->correct ? registry_first(m) : NULL; file;
             file = registry_next(file, m))
            modules[m]->correct(file->state[m], &iolens.timeline);
}

void reduce_record(const struct file *file, enum module_index module, int64_t rank, void *record)
{
    const struct module *type = modules[module];
    memcpy(record, file->state[module], shape_bytes(type->shape));
    if (type->finish)
        type->finish(file->state[module], record);
    *(struct record_base *)record = (struct record_base){file->id, rank};
    shape_correct_times(type->shape, record, &iolens.timeline);
}

static void combine_staged(const void *in, void *inout)
{
    const struct staged *lower = in;
    struct staged *higher = inout;
    shape_merge(modules[lower->module]->shape, lower->record, higher->record);
    spread_merge(&lower->spread, &higher->spread);
}

static int merge_shared(const struct iolens_transport *transport, enum module_index module,
                        struct records *records)
{
    const struct record_shape *shape = modules[module]->shape;
    size_t bytes = shape_bytes(shape), stride = sizeof(struct staged) + bytes;
    struct buffer stage = {0};
    for (struct file *file = shared_first(module); file; file = shared_next(file, module)) {
        struct staged *item = buffer_add(&stage, stride);
        if (!item)
            break;
        item->module = module;
        reduce_record(file, module, transport->rank, item->record);
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
        records_put(records, item->record, bytes);
    }
    buffer_free(&stage);
    return result;
}

/* Records of varying size are not merged: rank 0's stands for all. */
static void put_varying(const struct module *type, const struct file *file, const void *state, int64_t rank,
                        struct records *records)
{
    size_t bytes = type->serialize(state, file, rank, NULL);
    void *room = bytes ? buffer_add(&records->bytes, bytes) : NULL;
    if (room)
        type->serialize(state, file, rank, room);
}

/* This rank writes a record of its own for the file. */
static bool has_own(const struct file *file, enum module_index module, int rank)
{
    bool stands_for_all = !modules[module]->shape && rank == 0;
    return !shared_by_all(file, module) || stands_for_all;
}

static void put_own(enum module_index module, int rank, struct records *records)
{
    const struct module *type = modules[module];
    _Alignas(8) char record[SHAPE_MOST_BYTES];
    for (struct file *file = registry_first(module); file; file = registry_next(file, module)) {
        if (!has_own(file, module, rank))
            continue;
        if (!type->shape) {
            put_varying(type, file, file->state[module], shared_by_all(file, module) ? -1 : rank, records);
            continue;
        }
        reduce_record(file, module, rank, record);
        records_put(records, record, shape_bytes(type->shape));
    }
}

int reduce_records(const struct iolens_transport *transport, enum module_index module,
                   struct records *records)
{
    const struct record_shape *shape = modules[module]->shape;
    if (shape)
        records_open(records, shape_bytes(shape), shape_bytes(shape) * iolens_registry.states[module]);
    else
        records_open(records, modules[module]->row_bytes, 0);
    put_own(module, transport->rank, records);
    return shape ? merge_shared(transport, module, records) : 0;
}

void reduce_names(int rank, struct buffer *part)
{
    for (struct file *file = iolens_registry.first; file; file = file->next) {
        bool used = file->tables != NULL;
        for (int m = 0; m < MODULE_COUNT; m++)
            used |= file->state[m] != NULL;
        if (!used || (file->shared && rank != 0))
            continue;
        buffer_put(part, &file->id, sizeof file->id);
        buffer_put(part, file->path, strlen(file->path) + 1);
    }
}
