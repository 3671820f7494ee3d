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

enum mpi_way { MPI_WAY_RECEIVED, MPI_WAY_SENT, MPI_WAY_GOT, MPI_WAYS };

/* Counts a message to or from a rank of MPI_COMM_WORLD, or bytes fetched from its window; -1 stands for ranks
 * outside MPI_COMM_WORLD. */
void mpi_peer_add(int peer, int64_t bytes, enum mpi_way way);

/* Returns the name of the function with a number below IOLENS_MPI_FUNCTIONS. */
const char *mpi_function_name(uint32_t function);

#endif
