/* Finds out whether every rank has its own processor. */
#ifndef COLLECTIVES_PROCESSORS_H
#define COLLECTIVES_PROCESSORS_H

#include <mpi.h>
#include <stdbool.h>

typedef struct Crowd {
    int ranks, processors; /* of the node where there are fewest processors for its ranks */
    int nodes;
    bool oversubscribed;
} Crowd;

/* Collective. Processors are those that the ranks of a node may run on, all taken together. */
Crowd crowd_of(MPI_Comm comm);

#endif
