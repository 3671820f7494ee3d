/* Counts this process's messages by the rank at the other end. */
#ifndef IOLENS_MPI_PEERS_H
#define IOLENS_MPI_PEERS_H

#include <stdint.h>

enum mpi_way { MPI_WAY_RECEIVED, MPI_WAY_SENT, MPI_WAY_GOT, MPI_WAYS };

/* Counts a message to or from a rank of MPI_COMM_WORLD, or bytes fetched from its window; -1 stands for ranks
 * outside MPI_COMM_WORLD. */
void mpi_peer_add(int peer, int64_t bytes, enum mpi_way way);

#endif
