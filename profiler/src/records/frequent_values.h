/* The most frequent values of a stream (access sizes, strides) in bounded memory.
 *
 * Exact up to FREQUENT_LARGE different values; beyond that "space saving" (Metwally, Agrawal, El Abbadi
 * 2005): the rarest value is replaced by the new one, and its count becomes the possible error of the new
 * value. The reported number is count - error: occurrences that were certainly seen. */
#ifndef IOLENS_FREQUENT_VALUES_H
#define IOLENS_FREQUENT_VALUES_H

#include <stdbool.h>
#include <stdint.h>

#include "kept_values.h"

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
