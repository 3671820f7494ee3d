#include "frequent_values.h"

#include "../memory/area.h"
#include "../runtime/context.h"

void frequent_start(struct frequent_values *set)
{
    set->entries = set->latest = set->few;
    set->latest->value = FREQUENT_NOTHING;
    set->capacity = FREQUENT_SMALL;
}

bool frequent_validate(const struct frequent_values *set, const struct area *area)
{
    bool small = set->entries == set->few && set->capacity == FREQUENT_SMALL;
    bool grown = (set->capacity == FREQUENT_MEDIUM || set->capacity == FREQUENT_LARGE) &&
                 area_holds(area, set->entries, sizeof *set->entries, (size_t)set->capacity);
    return (small || grown) && set->used >= 0 && set->used <= set->capacity;
}

static void grow(struct frequent_values *set)
{
    int capacity = set->capacity == FREQUENT_SMALL ? FREQUENT_MEDIUM : FREQUENT_LARGE;
    struct frequent_value *larger = arena_alloc(&iolens.arena, (size_t)capacity * sizeof *larger);
    if (!larger)
        return;
    memcpy(larger, set->entries, (size_t)set->used * sizeof *larger);
    set->entries = larger;
    set->capacity = capacity;
}

static int rarest(const struct frequent_values *set)
{
    int least = 0;
    for (int i = 1; i < set->used; i++)
        if (set->entries[i].count < set->entries[least].count)
            least = i;
    return least;
}

void frequent_search(struct frequent_values *set, int64_t value)
{
    for (int i = 0; i < set->used; i++) {
        if (set->entries[i].value == value) {
            set->entries[i].count++;
            set->latest = &set->entries[i];
            return;
        }
    }
    if (set->used == set->capacity && set->capacity < FREQUENT_LARGE)
        grow(set);
    int at = set->used < set->capacity ? set->used++ : rarest(set);
    struct frequent_value *entry = &set->entries[at];
    *entry = (struct frequent_value){value, entry->count + 1, entry->count};
    set->latest = entry;
}

void top_insert(int64_t *values, int64_t *counts, int64_t value, int64_t count)
{
    int at = 0;
    if (value == 0 || count <= 0)
        return;
    while (at < FREQUENT_TOP - 1 && values[at] != value)
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

static int64_t seen(const struct frequent_values *set, int64_t value)
{
    for (int i = 0; i < set->used; i++)
        if (set->entries[i].value == value)
            return set->entries[i].count - set->entries[i].error;
    return 0;
}

void frequent_top(const struct frequent_values *set, int64_t *values, int64_t *counts)
{
    for (int i = 0; i < set->used; i++)
        top_insert(values, counts, set->entries[i].value, seen(set, set->entries[i].value));
}

void frequent_top_of_both(const struct frequent_values *a, const struct frequent_values *b, int64_t *values,
                          int64_t *counts)
{
    for (int i = 0; i < a->used; i++)
        top_insert(values, counts, a->entries[i].value,
                   seen(a, a->entries[i].value) + seen(b, a->entries[i].value));
    for (int i = 0; i < b->used; i++)
        if (seen(a, b->entries[i].value) == 0)
            top_insert(values, counts, b->entries[i].value, seen(b, b->entries[i].value));
}

void frequent_keep(const struct frequent_values *set, struct kept_values *kept)
{
    for (int i = 0; i < set->used; i++) {
        const struct frequent_value *entry = &set->entries[i];
        if (entry->value != 0 && entry->count > entry->error)
            kept_add(kept, &entry->value, entry->count - entry->error);
    }
}
