#include "reduce.h"

#include "../records/frequent_values.h"
#include "../runtime/context.h"

/* The lists of most frequent values of shared files, merged over all ranks. */

static inline const struct kept_values *lists_next(const struct kept_values *kept)
{
    return (const struct kept_values *)((const char *)kept + kept_bytes((int)kept->words, (int)kept->used));
}

/* Lists are stored one after another without their unused rows, because most files have few different
 * values. To add a list, fill the room that lists_add returns (NULL without memory), then call lists_trim
 * to cut off the unused rest. */
static struct kept_values *lists_add(struct buffer *lists, int words)
{
    struct kept_values *kept = buffer_add(lists, kept_bytes(words, KEPT_ALL));
    if (kept)
        kept_start(kept, words, KEPT_ALL);
    return kept;
}

static void lists_trim(struct buffer *lists, const struct kept_values *last)
{
    lists->used -= kept_bytes((int)last->words, KEPT_ALL) - kept_bytes((int)last->words, (int)last->used);
}

static void put(struct buffer *lists, const struct kept_values *kept)
{
    buffer_put(lists, kept, kept_bytes((int)kept->words, (int)kept->used));
}

/* Adds the values of `higher` ranks to the lists of lower ranks. */
static int add(struct buffer *lists, const struct buffer *higher, const void *context)
{
    struct buffer both = {0};
    size_t count = *(const size_t *)context;
    const struct kept_values *mine = (const void *)lists->data, *theirs = (const void *)higher->data;
    for (size_t i = 0; i < count; i++, mine = lists_next(mine), theirs = lists_next(theirs)) {
        struct kept_values *kept = lists_add(&both, (int)mine->words);
        if (!kept)
            break;
        kept_merge(mine, kept);
        kept_merge(theirs, kept);
        lists_trim(&both, kept);
    }
    buffer_free(lists);
    *lists = both;
    return both.failed ? -1 : 0;
}

static void combine(const void *in, void *inout) { kept_merge(in, inout); }

/* Merges by a reduction, if ranks cannot send messages. A reduction needs lists of equal size. */
static int merge_by_reduction(const struct iolens_transport *transport, struct buffer *lists, size_t count)
{
    struct buffer whole = {0};
    size_t stride = 0;
    const struct kept_values *kept = (const void *)lists->data;
    for (size_t i = 0; i < count; i++, kept = lists_next(kept))
        if (kept_bytes((int)kept->words, KEPT_ALL) > stride)
            stride = kept_bytes((int)kept->words, KEPT_ALL);
    char *rows = buffer_add(&whole, stride * count);
    kept = (const void *)lists->data;
    for (size_t i = 0; rows && i < count; i++, kept = lists_next(kept))
        memcpy(rows + i * stride, kept, kept_bytes((int)kept->words, (int)kept->used));
    int result = rows ? transport->reduce_records(rows, stride, count, combine) : -1;
    lists->used = 0;
    for (size_t i = 0; result == 0 && i < count; i++)
        put(lists, (const void *)(rows + i * stride));
    buffer_free(&whole);
    return lists->failed ? -1 : result;
}

/* Collective. Merges `count` lists, which describe the same values in the same order on all ranks, and
 * gives the result to all ranks. Returns 0, or -1. */
static int lists_merge(const struct iolens_transport *transport, struct buffer *lists, size_t count)
{
    if (transport->send)
        return merge_by_messages(transport, lists, add, &count);
    return lists->failed ? -1 : merge_by_reduction(transport, lists, count);
}

/* A shared record while it is merged over the ranks, with the sums for its variances. */
struct staged {
    int64_t module;
    struct spread spread;
    char record[];
};

/* The layout of the staged records of a module. */
struct stage {
    enum module_index module;
    size_t record_bytes, stride;
    int lists, words[2];
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

bool reduce_speaks(void)
{
    bool speaks = false;
    for (int m = 0; m < MODULE_COUNT; m++)
        speaks |= modules[m]->speaks && modules[m]->speaks();
    return speaks;
}

void reduce_agree(const struct iolens_transport *transport)
{
    for (int m = 0; m < MODULE_COUNT; m++)
        if (modules[m]->agree)
            modules[m]->agree(transport);
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

static struct stage stage_of(enum module_index module)
{
    const struct record_shape *shape = modules[module]->shape;
    struct stage stage = {.module = module, .record_bytes = shape_bytes(shape)};
    stage.lists = shape_lists(shape, stage.words);
    stage.stride = sizeof(struct staged) + stage.record_bytes;
    return stage;
}

static void stage_file(const struct stage *stage, const struct file *file, int rank, struct staged *item)
{
    item->module = stage->module;
    reduce_record(file, stage->module, rank, item->record);
    shape_share(modules[stage->module]->shape, item->record, rank, &item->spread);
}

static void combine_staged(const void *in, void *inout)
{
    const struct staged *lower = in;
    struct staged *higher = inout;
    const struct record_shape *shape = modules[lower->module]->shape;
    shape_merge(shape, lower->record, higher->record);
    spread_merge(&lower->spread, &higher->spread);
}

/* Collective. Merges the module's shared files into `staged`. */
static int merge_staged(const struct iolens_transport *transport, const struct stage *stage,
                        struct buffer *staged)
{
    for (struct file *file = shared_first(stage->module); file; file = shared_next(file, stage->module)) {
        struct staged *item = buffer_add(staged, stage->stride);
        if (!item)
            return -1;
        stage_file(stage, file, transport->rank, item);
    }
    size_t count = staged->used / stage->stride;
    return count > 0 ? transport->reduce_records(staged->data, stage->stride, count, combine_staged) : 0;
}

static struct staged *staged_at(const struct stage *stage, const struct buffer *staged, size_t i)
{
    return (struct staged *)(staged->data + i * stage->stride);
}

static void keep_lists(const struct stage *stage, const struct file *file, struct buffer *lists)
{
    for (int i = 0; i < stage->lists; i++) {
        struct kept_values *kept = lists_add(lists, stage->words[i]);
        if (!kept)
            return;
        modules[stage->module]->keep(file->state[stage->module], i, kept);
        lists_trim(lists, kept);
    }
}

/* Collective. Merges the lists of most frequent values of these `count` records. */
static int merge_lists(const struct iolens_transport *transport, const struct stage *stage, size_t count,
                       struct buffer *merged)
{
    const struct record_shape *shape = modules[stage->module]->shape;
    struct buffer lists = {0};
    for (struct file *file = shared_first(stage->module); file; file = shared_next(file, stage->module))
        keep_lists(stage, file, &lists);
    int result = lists_merge(transport, &lists, count * (size_t)stage->lists);
    const struct kept_values *kept = (const void *)lists.data;
    for (size_t i = 0; result == 0 && transport->rank == 0 && i < count; i++)
        for (int list = 0; list < stage->lists; list++, kept = lists_next(kept))
            shape_put_list(shape, staged_at(stage, merged, i)->record, list, kept);
    buffer_free(&lists);
    return result;
}

static int merge_shared(const struct iolens_transport *transport, enum module_index module,
                        struct records *records)
{
    struct stage stage = stage_of(module);
    struct buffer merged = {0};
    int result = merge_staged(transport, &stage, &merged);
    size_t count = merged.used / stage.stride;
    if (result == 0 && count > 0 && stage.lists > 0)
        result = merge_lists(transport, &stage, count, &merged);
    for (size_t i = 0; result == 0 && transport->rank == 0 && i < count; i++) {
        struct staged *item = staged_at(&stage, &merged, i);
        shape_finish_shared(modules[module]->shape, item->record, &item->spread);
        records_put(records, item->record, stage.record_bytes);
    }
    buffer_free(&merged);
    return result;
}

/* Appends a record of varying size. Such records are not merged; the record of rank 0 stands for all. */
static void put_varying(const struct module *type, const struct file *file, const void *state, int64_t rank,
                        struct records *records)
{
    size_t bytes = type->serialize(state, file, rank, NULL);
    void *room = bytes ? buffer_add(&records->bytes, bytes) : NULL;
    if (room)
        type->serialize(state, file, rank, room);
}

/* Returns true if this rank writes its own record for the file. */
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

/* Announced by a sender instead of a size if its buffer failed; then nothing follows. After a size, the
 * receiver answers whether it has room. */
static const size_t NOTHING = SIZE_MAX;

static int receive(const struct iolens_transport *transport, int rank, struct buffer *into)
{
    size_t bytes;
    if (transport->receive(&bytes, sizeof bytes, rank) != 0 || bytes == NOTHING)
        return -1;
    void *room = buffer_add(into, bytes);
    uint8_t has_room = room != NULL;
    int result = transport->send(&has_room, sizeof has_room, rank);
    return result == 0 && has_room ? transport->receive(room, bytes, rank) : -1;
}

static int send(const struct iolens_transport *transport, int rank, const struct buffer *from)
{
    uint8_t has_room = 0;
    size_t bytes = from->failed ? NOTHING : from->used;
    if (transport->send(&bytes, sizeof bytes, rank) != 0 || from->failed ||
        transport->receive(&has_room, sizeof has_room, rank) != 0)
        return -1;
    return has_room ? transport->send(from->data, bytes, rank) : -1;
}

/* Follows a binomial tree: a rank collects the bytes of 1, 2, 4 … ranks and sends them to a lower rank. A
 * rank that has no bytes because of an error says so when its turn comes, because the lower rank waits for a
 * message. */
int merge_by_messages(const struct iolens_transport *transport, struct buffer *bytes, merge_add_fn *merge,
                      const void *context)
{
    for (int step = 1; step < transport->size; step *= 2) {
        if (transport->rank & step)
            return send(transport, transport->rank - step, bytes);
        if (transport->rank + step >= transport->size)
            continue;
        struct buffer theirs = {0};
        if (receive(transport, transport->rank + step, &theirs) != 0 || bytes->failed ||
            merge(bytes, &theirs, context) != 0)
            bytes->failed = true;
        buffer_free(&theirs);
    }
    return bytes->failed ? -1 : 0;
}
