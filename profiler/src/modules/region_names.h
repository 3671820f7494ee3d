/* The names of regions, each of which has a number. */
#ifndef IOLENS_REGION_NAMES_H
#define IOLENS_REGION_NAMES_H

#include <stdint.h>

/* Largest size of the label of a region, with the NUL, and largest number of regions that a process can
 * distinguish. */
enum { REGION_LABEL_BYTES = 64, REGION_NAMES_MOST = 4096 };

/* Numbers that are used in place of a region's number. REGION_NONE: outside all regions. REGION_OTHER: there
 * was no room for another name. REGION_RUN: all regions together. */
#define REGION_NONE  UINT32_C(0)
#define REGION_OTHER UINT32_C(0xfffffffe)
#define REGION_RUN   UINT32_C(0xffffffff)

/* Returns the number of the region of this id and label (may be NULL) inside the region `parent`. The
 * number is a hash, so it is the same in every process. Returns REGION_OTHER if there is no room for
 * another name. */
uint32_t region_number(uint32_t parent, int64_t id, const char *label);

#endif
