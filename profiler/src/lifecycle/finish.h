/* Writes the log after recording has stopped. */
#ifndef IOLENS_FINISH_H
#define IOLENS_FINISH_H

#include <stdbool.h>

#include "../adapter.h"
#include "../system/path.h"

/* Writes the job's log after recording has stopped; collective. Returns true if the log exists under the name
 * in `log`. Prints one message if writing fails; the program continues either way. */
bool finish_log(const struct iolens_transport *transport, char log[PATH_BYTES]);

/* Reserves address space for a rank of a job with `ranks` ranks. The pages stay untouched, so they cost no
 * memory. */
void reserve_hold(int rank, int ranks);

/* Releases the reserved memory and returns false if memory does not suffice for writing this process's
 * records. Always returns true if nothing is reserved. */
bool reserve_release(void);

#endif
