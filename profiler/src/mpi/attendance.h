/* Agreement of all ranks of a job, some of which may not have this library, on writing one log together. */
#ifndef IOLENS_ATTENDANCE_H
#define IOLENS_ATTENDANCE_H

#include <stdbool.h>

/* Returns true if all ranks of MPI_COMM_WORLD are recorded; if not, prints the reason, on one or two ranks,
 * and returns false on all ranks. `recorded` is true if this rank is recorded. Collective over the ranks that
 * have this library. A rank that does not take part, because its program lacks this library, is waited for
 * one minute. */
bool attendance_is_complete(bool recorded);

#endif
