/* Tracks the regions that a program marks, by their nesting path. */
#ifndef IOLENS_REGIONS_H
#define IOLENS_REGIONS_H

#include <stdbool.h>
#include <stdint.h>

/* Begins a visit of the thread to the region `id` inside its current region. A label is part of a region's
 * name; NULL: none. */
void region_begin(int64_t id, const char *label);

/* Ends the visits of the thread to the innermost region `id` and to all regions that it entered since. If the
 * thread is not in such a region, nothing changes, and the log reports the mistake. */
void region_end(int64_t id);

/* Excludes the time in which recording is switched off: called with `on` true when recording is switched off,
 * and with `on` false when it resumes. */
void regions_pause(bool on);

/* Forgets all open visits in a child of fork, which starts outside all regions. */
void regions_reset(void);

#endif
