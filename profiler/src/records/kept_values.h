/* Lists of frequent values, on their way to other ranks. A record names only the four most frequent values,
 * but merging needs all values that each rank has kept: a value may be frequent in total without being among
 * the four best of every rank. */
#ifndef IOLENS_KEPT_VALUES_H
#define IOLENS_KEPT_VALUES_H

#include <stddef.h>
#include <stdint.h>

/* Largest number of different values that one rank keeps for one list, reads and writes together. */
enum { KEPT_ALL = 64 };

/* `used` rows in an array of `room` rows. A row has `words` numbers (the value) and a count. */
struct kept_values {
    int64_t words, room, used, rows[];
};

size_t kept_bytes(int words, int room);
void kept_start(struct kept_values *kept, int words, int room);

/* Adds `count` occurrences of a value. If the array is full, a new value replaces the rarest one, provided
 * that it is more frequent. */
void kept_add(struct kept_values *kept, const int64_t *value, int64_t count);

/* Adds the values and counts in `lower`, which lower ranks kept, to `inout`. */
void kept_merge(const struct kept_values *lower, struct kept_values *inout);

static inline const int64_t *kept_value(const struct kept_values *kept, int64_t i)
{
    return kept->rows + i * (kept->words + 1);
}

static inline int64_t kept_count(const struct kept_values *kept, int64_t i)
{
    return kept->rows[i * (kept->words + 1) + kept->words];
}

#endif
