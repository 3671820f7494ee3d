/* Numbers of communicators. All ranks give a communicator the same number, without asking one another. */
#ifndef IOLENS_COMM_IDS_H
#define IOLENS_COMM_IDS_H

#include <stdint.h>

/* The ranks of a group in MPI_COMM_WORLD: first + i * stride for i below size, or world[i] if `world` is not
 * NULL; -1 for a rank outside of MPI_COMM_WORLD. */
struct ranks {
    int size, first, stride;
    const int *world;
};

/* Returns the number of a communicator at its first use. The number is a hash of its ranks and of how many
 * communicators with the same ranks were made before. These ranks agree on it, because they make
 * communicators by collective calls, in the same order. Returns 0 for ranks outside of MPI_COMM_WORLD. The
 * lock of new communicators must be held. */
uint32_t comm_id_next(struct ranks ranks);

/* Does the same for an intercommunicator; both groups get the same number. */
uint32_t comm_id_between(struct ranks here, struct ranks there);

#endif
