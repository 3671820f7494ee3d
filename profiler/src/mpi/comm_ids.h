/* Numbers of communicators. All ranks give a communicator the same number, without asking one another. */
#ifndef IOLENS_COMM_IDS_H
#define IOLENS_COMM_IDS_H

#include <stdint.h>

/* Returns the number of a communicator at its first use. The number is a hash of its ranks in MPI_COMM_WORLD
 * and of how many communicators with the same ranks were made before. These ranks agree on it, because they
 * make communicators by collective calls, in the same order. Returns 0 for an intercommunicator and for ranks
 * outside of MPI_COMM_WORLD. The lock of new communicators must be held. */
uint32_t comm_id_next(int size, int first, int stride, const int *world);

#endif
