/* Calls of MPI and of the file system, in the order of each process, with their times and with the data
 * that joins them to calls of other ranks. The report finds from them who waited for whom, and why
 * (IOLENS_WHY). */
#ifndef IOLENS_WHY_EVENTS_H
#define IOLENS_WHY_EVENTS_H

#include <stdbool.h>
#include <stdint.h>

/* Returns true if IOLENS_WHY asks for events. */
bool why_wanted(void);

/* Keeps a visit of the calling thread to a region as an event, if this is the first thread. */
void why_region_left(uint32_t region, double begin, double end);

#endif
