/* The regions that a program marks, by nesting path: entering and leaving them. */
#ifndef IOLENS_REGIONS_H
#define IOLENS_REGIONS_H

#include <stdbool.h>
#include <stdint.h>

/* The calling thread enters the region `id` inside the one that it is in. A label is part of a region's name;
 * NULL: none. */
void region_begin(int64_t id, const char *label);

/* It leaves the innermost region `id`, and with it all that it entered since. One that it is not in changes
 * nothing, and is told in the log. */
void region_end(int64_t id);

/* Recording is switched off, or on again. */
void regions_pause(bool on);

/* In a child of fork: it is in no region of its own. */
void regions_reset(void);

#endif
