/* Darshan's ten buckets of access sizes; the upper bounds are inclusive. */
#ifndef IOLENS_HISTOGRAM_H
#define IOLENS_HISTOGRAM_H

#include <stdint.h>

enum { HISTOGRAM_BUCKETS = 10 };

static const int64_t HISTOGRAM_BOUND[HISTOGRAM_BUCKETS] = {
    100, 1 << 10, 10 << 10, 100 << 10, 1 << 20, 4 << 20, 10 << 20, 100 << 20, 1 << 30, INT64_MAX};

/* Every range between two neighbouring powers of two contains at most one bound. The array holds, for each
 * range, the bucket of its lower end. */
static const unsigned char HISTOGRAM_LOWER[64] = {
    0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 3, 3, 3, 4, 4, 4, 4, 5, 5, 6, 7, 7, 7, 8, 8, 8, 8, 9,
    9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9};

/* Returns the bucket of a size, which must not be negative. */
static inline int histogram_bucket(int64_t bytes)
{
    int lower = HISTOGRAM_LOWER[63 - __builtin_clzll((unsigned long long)bytes | 1)];
    return lower + (bytes > HISTOGRAM_BOUND[lower]);
}

#endif
