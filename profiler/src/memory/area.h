/* The area of memory into which the pointers of a spool may point, and tests of pointers. A spool may be cut
 * short, damaged, or changing while it is read. */
#ifndef IOLENS_AREA_H
#define IOLENS_AREA_H

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum { AREA_GRAIN = 16 }; /* Alignment of allocations in the arena, in bytes. */

struct area {
    const char *begin, *end;
    /* One bit for each grain that a record occupies; NULL if overlaps are not checked. */
    unsigned char *claimed;
};

/* Marks bytes as occupied. Returns false if some were occupied before: if records overlapped, changing one of
 * them could make the other invalid after it was checked. */
static inline bool area_claim(const struct area *area, const char *at, size_t bytes)
{
    if (!area->claimed || bytes == 0)
        return true;
    size_t first = (size_t)(at - area->begin) / AREA_GRAIN;
    size_t last = (size_t)(at - area->begin + (ptrdiff_t)bytes - 1) / AREA_GRAIN;
    for (size_t grain = first; grain <= last; grain++)
        if (area->claimed[grain / 8] >> grain % 8 & 1)
            return false;
    for (size_t grain = first; grain <= last; grain++)
        area->claimed[grain / 8] |= (unsigned char)(1u << grain % 8);
    return true;
}

/* Returns true if `count` items of `bytes` each, aligned to 8, lie in the area and overlap no other
 * record. */
static inline bool area_holds(const struct area *area, const void *items, size_t bytes, size_t count)
{
    const char *at = items;
    return at >= area->begin && at < area->end && (uintptr_t)at % 8 == 0 &&
           count <= (size_t)(area->end - at) / bytes && area_claim(area, at, bytes * count);
}

/* Returns true if a NUL-terminated text lies in the area and overlaps no other record. */
static inline bool area_text(const struct area *area, const char *text)
{
    const char *end =
        text >= area->begin && text < area->end ? memchr(text, '\0', (size_t)(area->end - text)) : NULL;
    return end && area_claim(area, text, (size_t)(end - text) + 1);
}

/* Returns true if a time in seconds is plausible: from 0 to three years. */
static inline bool is_measured_time(double seconds) { return seconds >= 0 && seconds < 1e8; }

#endif
