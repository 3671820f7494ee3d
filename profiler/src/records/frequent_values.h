/* The most frequent values of a stream (access sizes, strides) in bounded memory.
 *
 * Exact up to FREQUENT_LARGE different values; beyond that "space saving" (Metwally, Agrawal, El Abbadi
 * 2005): the rarest value is replaced by the new one, and its count becomes the possible error of the new
 * value. The reported number is count - error: occurrences that were certainly seen. */
#ifndef IOLENS_FREQUENT_VALUES_H
#define IOLENS_FREQUENT_VALUES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Lists of frequent values, on their way to other ranks. A record names only the four most frequent values,
 * but merging needs all values that each rank has kept: a value may be frequent in total without being among
 * the four best of every rank. */

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

enum {
    FREQUENT_SMALL = 1,
    FREQUENT_MEDIUM = 8,
    FREQUENT_LARGE = 32,
    FREQUENT_TOP = 4,
    FREQUENT_NOTHING = -1
};

struct frequent_value {
    int64_t value, count, error;
};

struct frequent_values {
    /* Points to `few` or to a larger array; most files have only one access size. */
    struct frequent_value *entries;
    struct frequent_value *latest;
    int used, capacity;
    struct frequent_value few[FREQUENT_SMALL];
};

struct area;

void frequent_start(struct frequent_values *set);

/* Returns true if a set in a spool is valid. */
bool frequent_validate(const struct frequent_values *set, const struct area *area);

/* Adds a value that is not negative and differs from the latest one; the slow part of frequent_add. */
void frequent_search(struct frequent_values *set, int64_t value);

/* Counts the value and returns true if it equals the latest one. */
static inline bool frequent_again(struct frequent_values *set, int64_t value)
{
    if (__builtin_expect(set->latest->value != value, 0))
        return false;
    set->latest->count++;
    return true;
}

static inline void frequent_add(struct frequent_values *set, int64_t value)
{
    if (!frequent_again(set, value))
        frequent_search(set, value);
}

/* Writes the four most frequent values and their counts, by falling count, then by falling value; unused
 * places are 0. */
void frequent_top(const struct frequent_values *set, int64_t *values, int64_t *counts);

/* Writes the four most frequent values of two streams taken together. */
void frequent_top_of_both(const struct frequent_values *a, const struct frequent_values *b, int64_t *values,
                          int64_t *counts);

/* Copies all values that were kept of a stream, so that they can be merged over ranks. */
void frequent_keep(const struct frequent_values *set, struct kept_values *kept);

/* Inserts a value with its count into two arrays as frequent_top writes them. If the value is there already,
 * its count grows. */
void top_insert(int64_t *values, int64_t *counts, int64_t value, int64_t count);

#endif
