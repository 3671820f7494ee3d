/* Messages of this process by the rank at the other end. */
#ifndef IOLENS_MPI_PEERS_H
#define IOLENS_MPI_PEERS_H

#include <stdint.h>

enum mpi_way { MPI_WAY_RECEIVED, MPI_WAY_SENT, MPI_WAY_GOT, MPI_WAYS };

/* Counts a message to or from a rank of MPI_COMM_WORLD, or fetched from its window; -1: a rank outside of it.
 */
void mpi_peer_add(int peer, int64_t bytes, enum mpi_way way);

#endif
