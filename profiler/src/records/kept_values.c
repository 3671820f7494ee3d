#include <string.h>

#include "frequent_values.h"

size_t kept_bytes(int words, int room)
{
    return sizeof(struct kept_values) + (size_t)room * (size_t)(words + 1) * sizeof(int64_t);
}

void kept_start(struct kept_values *kept, int words, int room)
{
    memset(kept, 0, kept_bytes(words, room));
    kept->words = words;
    kept->room = room;
}

static int64_t rarest(const struct kept_values *kept)
{
    int64_t least = 0;
    for (int64_t i = 1; i < kept->used; i++)
        if (kept_count(kept, i) < kept_count(kept, least))
            least = i;
    return least;
}

void kept_add(struct kept_values *kept, const int64_t *value, int64_t count)
{
    size_t bytes = (size_t)kept->words * sizeof *value;
    int64_t at = 0;
    while (at < kept->used && memcmp(kept_value(kept, at), value, bytes) != 0)
        at++;
    if (at == kept->room) {
        at = rarest(kept);
        if (kept_count(kept, at) >= count)
            return;
        kept->rows[at * (kept->words + 1) + kept->words] = 0;
    } else if (at == kept->used) {
        kept->used++;
    }
    int64_t *row = kept->rows + at * (kept->words + 1);
    memcpy(row, value, bytes);
    row[kept->words] += count;
}

void kept_merge(const struct kept_values *lower, struct kept_values *inout)
{
    for (int64_t i = 0; i < lower->used; i++)
        kept_add(inout, kept_value(lower, i), kept_count(lower, i));
}
