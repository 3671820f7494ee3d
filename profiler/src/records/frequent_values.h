/* The most frequent values of a stream (access sizes, strides) in bounded memory.
 *
 * Exact up to SKETCH_LARGE different values; beyond that "space saving" (Metwally, Agrawal, El Abbadi 2005):
 * the rarest value makes room, and its count becomes the newcomer's possible error. What is reported is count
 * - error: occurrences that were really seen. */
#ifndef IOLENS_SKETCH_H
#define IOLENS_SKETCH_H

#include <stdbool.h>
#include <stdint.h>

enum { SKETCH_SMALL = 1, SKETCH_MEDIUM = 8, SKETCH_LARGE = 32, SKETCH_TOP = 4, SKETCH_NOTHING = -1 };

struct sketch_entry {
    int64_t value, count, error;
};

struct sketch {
    struct sketch_entry *entries; /* `few`, or an array elsewhere: most files see one size */
    struct sketch_entry *latest;
    int used, capacity;
    struct sketch_entry few[SKETCH_SMALL];
};

struct area;

void sketch_start(struct sketch *sketch);

/* Of a sketch in a spool. */
bool sketch_sound(const struct sketch *sketch, const struct area *area);

/* The slow part of sketch_add: the value, not negative, is not the latest one. */
void sketch_search(struct sketch *sketch, int64_t value);

/* True when `value` is the latest one, which is counted then. */
static inline bool sketch_again(struct sketch *sketch, int64_t value)
{
    if (__builtin_expect(sketch->latest->value != value, 0))
        return false;
    sketch->latest->count++;
    return true;
}

static inline void sketch_add(struct sketch *sketch, int64_t value)
{
    if (!sketch_again(sketch, value))
        sketch_search(sketch, value);
}

/* Write the top four: values[4], then counts[4], by falling count, then by falling value; 0 where there are
 * fewer. */
void sketch_top(const struct sketch *sketch, int64_t *values, int64_t *counts);

/* The same of two streams together. */
void sketch_top_of_both(const struct sketch *a, const struct sketch *b, int64_t *values, int64_t *counts);

/* Insert (value, count) into such a pair of arrays, adding to an equal value. */
void top_insert(int64_t *values, int64_t *counts, int64_t value, int64_t count);

#endif
