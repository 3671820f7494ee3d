/* Numbers that all ranks give the same communicator, found without asking other ranks. */
#ifndef IOLENS_COMM_IDS_H
#define IOLENS_COMM_IDS_H

#include <stdint.h>

/* Returns the number of a communicator that is used for the first time: a hash of its ranks of
 * MPI_COMM_WORLD and of how many communicators of the same ranks came before. Its ranks make those in the
 * same order, because making one is a collective call. Returns 0 for an intercommunicator and for ranks
 * outside of MPI_COMM_WORLD. The lock of new communicators must be held. */
uint32_t comm_id_next(int size, int first, int stride, const int *world);

#endif
