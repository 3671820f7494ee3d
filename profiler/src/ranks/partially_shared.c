#include "partially_shared.h"

#include <string.h>

#include "../runtime/context.h"
#include "shared.h"

enum { SLOTS_PER_FILE = 4, LEAST_SLOTS = 1024, MOST_SLOTS = 1 << 20 };

/* Every rank counts its files in a table, each file in a slot that follows from its id and the number of
 * the round, and the tables of all ranks are added. Where a slot holds more than this rank's own files,
 * other ranks have files there: the same ones, or others by chance. Further rounds, in which files meet in
 * other slots, tell these apart. */
struct slots {
    size_t count;
    struct buffer mine, all; /* int64: one per slot, and the files in all */
};

static int64_t *slot_of(const struct buffer *numbers, const struct slots *slots, uint64_t id, int round)
{
    uint64_t mixed = id * (UINT64_C(0x9e3779b97f4a7c15) + 2 * (uint64_t)round);
    return (int64_t *)numbers->data + (mixed >> 32) % slots->count;
}

static void list_candidates(enum module_index module, struct buffer *files)
{
    for (struct file *file = registry_first(module); file; file = registry_next(file, module))
        if (!shared_by_all(file, module))
            buffer_put(files, &file, sizeof(struct file *));
}

/* Collective. Room for about four slots a file. */
static int start(const struct iolens_transport *transport, const struct buffer *files, struct slots *slots,
                 int64_t *total)
{
    *total = (int64_t)(files->used / sizeof(struct file *));
    if (transport->allreduce(total, 1, IOLENS_INT64, IOLENS_SUM) != 0)
        return -1;
    slots->count = LEAST_SLOTS;
    while (slots->count < MOST_SLOTS && (int64_t)slots->count < SLOTS_PER_FILE * *total)
        slots->count *= 2;
    size_t bytes = (slots->count + 1) * sizeof(int64_t);
    return *total == 0 || (buffer_add(&slots->mine, bytes) && buffer_add(&slots->all, bytes)) ? 0 : -1;
}

/* Collective. Drop the candidates that are alone in their slot. `total`: candidates of all ranks before that.
 */
static int sift(const struct iolens_transport *transport, int round, struct slots *slots,
                struct buffer *files, int64_t *total)
{
    struct file **file = (struct file **)files->data;
    size_t count = files->used / sizeof *file, kept = 0;
    memset(slots->mine.data, 0, slots->mine.used);
    for (size_t i = 0; i < count; i++)
        ++*slot_of(&slots->mine, slots, file[i]->id, round);
    ((int64_t *)slots->mine.data)[slots->count] = (int64_t)count;
    memcpy(slots->all.data, slots->mine.data, slots->mine.used);
    if (transport->allreduce(slots->all.data, slots->count + 1, IOLENS_INT64, IOLENS_SUM) != 0)
        return -1;
    *total = ((int64_t *)slots->all.data)[slots->count];
    for (size_t i = 0; i < count; i++)
        if (*slot_of(&slots->all, slots, file[i]->id, round) >
            *slot_of(&slots->mine, slots, file[i]->id, round))
            file[kept++] = file[i];
    files->used = kept * sizeof *file;
    return 0;
}

int partially_shared_find(const struct iolens_transport *transport, enum module_index module, int64_t most,
                          struct buffer *files, bool *left_out)
{
    struct slots slots = {0};
    int64_t total = 0, before = -1;
    list_candidates(module, files);
    int result = start(transport, files, &slots, &total);
    for (int round = 0; result == 0 && total > 0 && total != before && round < PARTIALLY_SHARED_ROUNDS;
         round++) {
        before = round > 0 ? total : -1;
        result = sift(transport, round, &slots, files, &total);
    }
    *left_out = result == 0 && total > most;
    if (*left_out)
        files->used = 0;
    buffer_free(&slots.mine);
    buffer_free(&slots.all);
    return files->failed ? -1 : result;
}
