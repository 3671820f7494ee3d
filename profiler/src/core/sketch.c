#include "sketch.h"

#include <string.h>

#include "context.h"

void sketch_start(struct sketch *sketch)
{
    sketch->entries = sketch->few;
    sketch->capacity = SKETCH_SMALL;
}

static void grow(struct sketch *sketch)
{
    struct sketch_entry *large = arena_alloc(&iolens.arena, SKETCH_LARGE * sizeof *large);
    if (!large)
        return;
    memcpy(large, sketch->few, sizeof sketch->few);
    sketch->entries = large;
    sketch->capacity = SKETCH_LARGE;
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
            sketch->latest = i;
            return;
        }
    }
    if (sketch->used == SKETCH_SMALL && sketch->capacity == SKETCH_SMALL)
        grow(sketch);
    int at = sketch->used < sketch->capacity ? sketch->used++ : rarest(sketch);
    struct sketch_entry *entry = &sketch->entries[at];
    *entry = (struct sketch_entry){value, entry->count + 1, entry->count};
    sketch->latest = at;
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

void sketch_top(const struct sketch *sketch, int64_t *values, int64_t *counts)
{
    for (int i = 0; i < sketch->used; i++) {
        const struct sketch_entry *entry = &sketch->entries[i];
        top_insert(values, counts, entry->value, entry->count - entry->error);
    }
}
