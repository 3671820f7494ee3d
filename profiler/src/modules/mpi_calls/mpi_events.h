/* Records calls of MPI one by one, if the user asked for that. */
#ifndef IOLENS_MPI_EVENTS_H
#define IOLENS_MPI_EVENTS_H

#include <stdbool.h>
#include <stdint.h>

#include "../../adapter.h"

/* Returns true if each call is kept with its times. */
bool mpi_events_wanted(void);

/* Records a call; `bytes` and `peer` are the size of its messages and the other rank, as in the row of the
 * table. */
void mpi_event_keep(const struct iolens_mpi_call *call, int64_t bytes, int peer);

#endif
