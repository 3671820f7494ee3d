/* Tracks the regions that a program marks, by their nesting path. */
#ifndef IOLENS_REGIONS_H
#define IOLENS_REGIONS_H

#include <stdbool.h>
#include <stdint.h>

/* Called when the thread enters the region `id` inside its current region. A label is part of a region's
 * name; NULL: none. */
void region_begin(int64_t id, const char *label);

/* Called when the thread leaves the innermost region `id` and all regions that it entered since. If the
 * thread is not in such a region, nothing changes, and the log reports the mistake. */
void region_end(int64_t id);

/* Called when recording is switched off or on. */
void regions_pause(bool on);

/* Called in a child of fork, which starts outside all regions. */
void regions_reset(void);

#endif
