/* The names of regions, each of which has a number. */
#ifndef IOLENS_REGION_NAMES_H
#define IOLENS_REGION_NAMES_H

#include <stdint.h>

/* Largest size of the label of a region, with the NUL, and largest number of regions that a process can
 * distinguish. */
enum { REGION_LABEL_BYTES = 64, REGION_NAMES_MOST = 4096 };

/* Numbers that no region has: outside all regions, no room for one more, and any or all of them. */
#define REGION_NONE  UINT32_C(0)
#define REGION_OTHER UINT32_C(0xfffffffe)
#define REGION_RUN   UINT32_C(0xffffffff)

/* The number of the region of this id and label (may be NULL) inside the region `parent`: a hash, so that it
 * is the same in every process. REGION_OTHER without room for one more name. */
uint32_t region_number(uint32_t parent, int64_t id, const char *label);

#endif
