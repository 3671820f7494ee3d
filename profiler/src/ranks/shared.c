#include "../runtime/context.h"
#include "reduce.h"

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

enum { SLOTS_PER_FILE = 4, LEAST_SLOTS = 1024, MOST_SLOTS = 1 << 20, MOST_PLACES = 4 };

/* Largest expected number of files that stay among the candidates although no other rank used them. */
static const double FEW_ENOUGH = 1e-3;

/* Every rank counts its files in a table, each file in several slots, which follow from the file's id and the
 * number of the round. The tables of all ranks are added (a counting Bloom filter). If all slots of a file
 * hold more than this rank's own files, other ranks have files there: the same file, or others by chance.
 * Further rounds with other slots distinguish these two cases. */
struct slots {
    size_t count;
    int round, places;       /* `round`: number of the round. `places`: number of slots per file. */
    struct buffer mine, all; /* Arrays of int64: one number per slot, then the number of files. */
};

static size_t slot_of(const struct slots *slots, uint64_t id, int place)
{
    uint64_t number = (uint64_t)slots->round * MOST_PLACES + (uint64_t)place;
    return (id * (UINT64_C(0x9e3779b97f4a7c15) + 2 * number) >> 32) % slots->count;
}

static struct file *candidate_from(struct file *file, enum module_index module)
{
    while (file && shared_by_all(file, module))
        file = registry_next(file, module);
    return file;
}

static struct file *first_candidate(enum module_index module)
{
    return candidate_from(registry_first(module), module);
}

static struct file *next_candidate(struct file *file, enum module_index module)
{
    return candidate_from(registry_next(file, module), module);
}

int64_t partially_shared_candidates(enum module_index module)
{
    int64_t count = 0;
    for (struct file *file = first_candidate(module); file; file = next_candidate(file, module))
        count++;
    return count;
}

/* Allocates the table, with about four slots for each file. */
static int start(int64_t total, struct slots *slots)
{
    slots->count = LEAST_SLOTS;
    while (slots->count < MOST_SLOTS && (int64_t)slots->count < SLOTS_PER_FILE * total)
        slots->count *= 2;
    size_t bytes = (slots->count + 1) * sizeof(int64_t);
    return total == 0 || (buffer_add(&slots->mine, bytes) && buffer_add(&slots->all, bytes)) ? 0 : -1;
}

/* Begins a round with the number of slots per file that distinguishes `total` files best: ln 2 times the
 * slots of the table, divided by the number of files. */
static void begin_round(struct slots *slots, int round, int64_t total)
{
    int64_t places = (int64_t)(0.69 * (double)slots->count / (double)total);
    slots->round = round;
    slots->places = places < 1 ? 1 : places < MOST_PLACES ? (int)places : MOST_PLACES;
    memset(slots->mine.data, 0, slots->mine.used);
}

/* Returns the largest expected share of a rank's unshared files that this round does not recognise, because
 * by chance files of other ranks lie in all of their slots. */
static double share_left(const struct slots *slots, int64_t total)
{
    double taken = (double)slots->places * (double)total / (double)slots->count, share = 1;
    for (int place = 0; place < slots->places; place++)
        share *= taken < 1 ? taken : 1;
    return share;
}

static bool meets_others(const struct slots *slots, uint64_t id)
{
    const int64_t *all = (const int64_t *)slots->all.data, *mine = (const int64_t *)slots->mine.data;
    bool meets = true;
    for (int place = 0; meets && place < slots->places; place++) {
        size_t slot = slot_of(slots, id, place);
        meets = all[slot] > mine[slot];
    }
    return meets;
}

/* Collective. Removes the candidates that are alone in any of their slots, and sets `*total` to the number of
 * candidates that all ranks together had before. */
static int sift(const struct iolens_transport *transport, struct slots *slots, struct buffer *files,
                int64_t *total)
{
    struct file **file = (struct file **)files->data;
    size_t count = files->used / sizeof *file, kept = 0;
    int64_t *mine = (int64_t *)slots->mine.data;
    for (size_t i = 0; i < count; i++)
        for (int place = 0; place < slots->places; place++)
            mine[slot_of(slots, file[i]->id, place)]++;
    mine[slots->count] = (int64_t)count;
    memcpy(slots->all.data, mine, slots->mine.used);
    if (transport->allreduce(slots->all.data, slots->count + 1, IOLENS_INT64, IOLENS_SUM) != 0)
        return -1;
    *total = ((const int64_t *)slots->all.data)[slots->count];
    for (size_t i = 0; i < count; i++)
        if (meets_others(slots, file[i]->id))
            file[kept++] = file[i];
    files->used = kept * sizeof *file;
    return 0;
}

int partially_shared_find(const struct iolens_transport *transport, enum module_index module, int64_t total,
                          int64_t most, struct buffer *files, bool *left_out)
{
    struct slots slots = {0};
    int64_t before = -1;
    /* Largest expected number of files that only one rank used and that remain among the candidates. */
    double lone = (double)total;
    for (struct file *file = first_candidate(module); file; file = next_candidate(file, module))
        buffer_put(files, &file, sizeof(struct file *));
    int result = start(total, &slots);
    for (int round = 0; result == 0 && total > 0 && total != before && round < PARTIALLY_SHARED_ROUNDS;
         round++) {
        if (lone < FEW_ENOUGH && total <= most)
            break;
        before = round > 0 ? total : -1;
        begin_round(&slots, round, total);
        result = sift(transport, &slots, files, &total);
        lone *= share_left(&slots, total);
    }
    *left_out = result == 0 && total > most;
    if (*left_out)
        files->used = 0;
    buffer_free(&slots.mine);
    buffer_free(&slots.all);
    return files->failed ? -1 : result;
}
