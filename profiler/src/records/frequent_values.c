#include "frequent_values.h"

#include <string.h>

#include "../memory/area.h"
#include "../runtime/context.h"

void sketch_start(struct sketch *sketch)
{
    sketch->entries = sketch->latest = sketch->few;
    sketch->latest->value = SKETCH_NOTHING;
    sketch->capacity = SKETCH_SMALL;
}

bool sketch_sound(const struct sketch *sketch, const struct area *area)
{
    bool small = sketch->entries == sketch->few && sketch->capacity == SKETCH_SMALL;
    bool grown = (sketch->capacity == SKETCH_MEDIUM || sketch->capacity == SKETCH_LARGE) &&
                 area_holds(area, sketch->entries, sizeof *sketch->entries, (size_t)sketch->capacity);
    return (small || grown) && sketch->used >= 0 && sketch->used <= sketch->capacity;
}

static void grow(struct sketch *sketch)
{
    int capacity = sketch->capacity == SKETCH_SMALL ? SKETCH_MEDIUM : SKETCH_LARGE;
    struct sketch_entry *larger = arena_alloc(&iolens.arena, (size_t)capacity * sizeof *larger);
    if (!larger)
        return;
    memcpy(larger, sketch->entries, (size_t)sketch->used * sizeof *larger);
    sketch->entries = larger;
    sketch->capacity = capacity;
}

static int rarest(const struct sketch *sketch)
{
    int least = 0;
    for (int i = 1; i < sketch->used; i++)
        if (sketch->entries[i].count < sketch->entries[least].count)
            least = i;
    return least;
}

void sketch_search(struct sketch *sketch, int64_t value)
{
    for (int i = 0; i < sketch->used; i++) {
        if (sketch->entries[i].value == value) {
            sketch->entries[i].count++;
            sketch->latest = &sketch->entries[i];
            return;
        }
    }
    if (sketch->used == sketch->capacity && sketch->capacity < SKETCH_LARGE)
        grow(sketch);
    int at = sketch->used < sketch->capacity ? sketch->used++ : rarest(sketch);
    struct sketch_entry *entry = &sketch->entries[at];
    *entry = (struct sketch_entry){value, entry->count + 1, entry->count};
    sketch->latest = entry;
}

void top_insert(int64_t *values, int64_t *counts, int64_t value, int64_t count)
{
    int at = 0;
    if (value == 0 || count <= 0)
        return;
    while (at < SKETCH_TOP - 1 && values[at] != value)
        at++;
    if (values[at] == value)
        count += counts[at];
    else if (counts[at] > count || (counts[at] == count && values[at] > value))
        return;
    for (; at > 0 && (counts[at - 1] < count || (counts[at - 1] == count && values[at - 1] < value)); at--) {
        values[at] = values[at - 1];
        counts[at] = counts[at - 1];
    }
    values[at] = value;
    counts[at] = count;
}

static int64_t seen(const struct sketch *sketch, int64_t value)
{
    for (int i = 0; i < sketch->used; i++)
        if (sketch->entries[i].value == value)
            return sketch->entries[i].count - sketch->entries[i].error;
    return 0;
}

void sketch_top(const struct sketch *sketch, int64_t *values, int64_t *counts)
{
    for (int i = 0; i < sketch->used; i++)
        top_insert(values, counts, sketch->entries[i].value, seen(sketch, sketch->entries[i].value));
}

void sketch_top_of_both(const struct sketch *a, const struct sketch *b, int64_t *values, int64_t *counts)
{
    for (int i = 0; i < a->used; i++)
        top_insert(values, counts, a->entries[i].value,
                   seen(a, a->entries[i].value) + seen(b, a->entries[i].value));
    for (int i = 0; i < b->used; i++)
        if (seen(a, b->entries[i].value) == 0)
            top_insert(values, counts, b->entries[i].value, seen(b, b->entries[i].value));
}
