/* Messages of this process by the rank at the other end. */
#ifndef IOLENS_MPI_PEERS_H
#define IOLENS_MPI_PEERS_H

#include <stdbool.h>
#include <stdint.h>

/* A message to (`sent`) or from a rank of MPI_COMM_WORLD; -1: somewhere outside of it. */
void mpi_peer_add(int peer, int64_t bytes, bool sent);

#endif
