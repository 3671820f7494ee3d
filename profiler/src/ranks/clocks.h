/* One clock for the ranks of all hosts. Ranks that read the same monotonic clock need nothing; of those that
 * read different ones, the first rank of each clock compares its own with that of another, over messages to
 * and fro, along a tree whose root is rank 0: once when the job begins and once when it ends. */
#ifndef IOLENS_CLOCKS_H
#define IOLENS_CLOCKS_H

#include "../adapter.h"
#include "../runtime/clock_offsets.h"

/* Collective, in MPI_Init. What this rank's clock said in the moment that all ranks agree on: the zero
 * of a common time axis. */
void clocks_start(const struct iolens_transport *transport);

/* Collective, in MPI_Finalize: how far the clocks are apart now. */
void clocks_end(const struct iolens_transport *transport);

#endif
