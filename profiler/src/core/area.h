/* Memory in which the pointers of a spool may point, and tests of them: a spool may be cut short, damaged, or
 * changing while it is read. */
#ifndef IOLENS_AREA_H
#define IOLENS_AREA_H

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct area {
    const char *begin, *end;
};

/* `count` items of `bytes` each, aligned to 8, lie in the area. */
static inline bool area_holds(const struct area *area, const void *items, size_t bytes, size_t count)
{
    const char *at = items;
    return at >= area->begin && at < area->end && (uintptr_t)at % 8 == 0 &&
           count <= (size_t)(area->end - at) / bytes;
}

/* A NUL-terminated text lies in the area. */
static inline bool area_text(const struct area *area, const char *text)
{
    return text >= area->begin && text < area->end && memchr(text, '\0', (size_t)(area->end - text));
}

/* Seconds that can have been measured: up to three years. */
static inline bool is_measured_time(double seconds) { return seconds >= 0 && seconds < 1e8; }

#endif
