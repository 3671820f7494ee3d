/* Memory with which a rank can take part in writing the job's log when there is none left for its records. */
#ifndef IOLENS_RESERVE_H
#define IOLENS_RESERVE_H

#include <stdbool.h>

/* Reserves room in the address space for a rank of a job with so many ranks. Nothing is written to it. */
void reserve_hold(int rank, int ranks);

/* Gives the room back and returns false if memory does not suffice for writing this process's records. Always
 * returns true if nothing is reserved. */
bool reserve_release(void);

#endif
