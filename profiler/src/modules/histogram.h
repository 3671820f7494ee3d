/* Darshan's ten buckets of access sizes; the upper bounds are inclusive. */
#ifndef IOLENS_HISTOGRAM_H
#define IOLENS_HISTOGRAM_H

#include <stdint.h>

enum { HISTOGRAM_BUCKETS = 10 };

static inline int histogram_bucket(int64_t bytes)
{
    const int64_t KiB = 1024, MiB = 1024 * KiB;
    return (bytes > 100) + (bytes > KiB) + (bytes > 10 * KiB) + (bytes > 100 * KiB) + (bytes > MiB) +
           (bytes > 4 * MiB) + (bytes > 10 * MiB) + (bytes > 100 * MiB) + (bytes > 1024 * MiB);
}

#endif
