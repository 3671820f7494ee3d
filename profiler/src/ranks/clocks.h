/* One clock for the ranks of all hosts. Ranks that read the same monotonic clock need nothing. If there are
 * several clocks, the first rank of each clock compares its clock with another by sending messages back and
 * forth. The comparisons form a tree whose root is rank 0; they are made when the job begins and when it
 * ends. */
#ifndef IOLENS_CLOCKS_H
#define IOLENS_CLOCKS_H

#include "../adapter.h"
#include "../runtime/timeline.h"

/* Collective, in MPI_Init. Notes this rank's clock at a moment on which all ranks agree, which is zero on
 * the common time axis. */
void clocks_start(const struct iolens_transport *transport);

/* Collective, in MPI_Finalize. Measures the offsets of the clocks again. */
void clocks_end(const struct iolens_transport *transport);

#endif
