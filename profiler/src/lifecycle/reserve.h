/* Reserved memory that lets a rank help to write the job's log when its own memory is exhausted. */
#ifndef IOLENS_RESERVE_H
#define IOLENS_RESERVE_H

#include <stdbool.h>

/* Reserves address space for a rank of a job with `ranks` ranks. The pages stay untouched, so they cost no
 * memory. */
void reserve_hold(int rank, int ranks);

/* Releases the reserved memory and returns false if memory does not suffice for writing this process's
 * records. Always returns true if nothing is reserved. */
bool reserve_release(void);

#endif
