/* Agreement of all ranks of a job, some of which may not have this library, on writing one log together. */
#ifndef IOLENS_ATTENDANCE_H
#define IOLENS_ATTENDANCE_H

#include <stdbool.h>

/* Returns true if all ranks of MPI_COMM_WORLD are recorded; if not, prints the reason, on one or two ranks,
 * and returns false on all ranks. `recorded` is true if this rank is recorded. Collective over the ranks that
 * have this library. A rank that does not take part, because its program lacks this library, is waited for
 * one minute. */
bool attendance_is_complete(bool recorded);

/* Waits until all ranks have called this function, however long that takes. */
void attendance_wait(void);

/* Returns true if all ranks have called this function. Collective at the end of MPI's communication. A rank
 * may be missing: if one of the program's own delete callbacks fails, MPI may skip the profiler's. The other
 * ranks then give up after ten minutes, since one rank may have much to do before it ends. */
bool attendance_ends(void);

#endif
