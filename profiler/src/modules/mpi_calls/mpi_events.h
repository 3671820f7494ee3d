/* Calls of MPI one by one, where that is asked for. */
#ifndef IOLENS_MPI_EVENTS_H
#define IOLENS_MPI_EVENTS_H

#include <stdbool.h>
#include <stdint.h>

#include "../../adapter.h"

/* Returns true if calls are kept with their times. */
bool mpi_events_wanted(void);

/* `bytes` of its messages, `peer`: as the row of the table has it. */
void mpi_event_keep(const struct iolens_mpi_call *call, int64_t bytes, int peer);

#endif
