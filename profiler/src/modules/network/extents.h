/* The parts of an object that have been fetched so far. They tell whether a byte is fetched for the first
 * time or again. */
#ifndef IOLENS_EXTENTS_H
#define IOLENS_EXTENTS_H

#include <stdint.h>

enum { MOST_EXTENTS = 256 };

/* Parts in the order of their offsets. They do not overlap or touch. */
struct extents {
    int64_t count;
    struct {
        int64_t begin, end;
    } of[MOST_EXTENTS];
};

/* Adds the bytes from `begin` up to `end`. Returns how many of these bytes were not in any part before. A
 * part for which there is no room is not kept: its bytes are new each time. */
int64_t extents_add(struct extents *extents, int64_t begin, int64_t end);

#endif
