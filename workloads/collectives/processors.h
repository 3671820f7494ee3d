/* Finds out whether every rank has its own processor. */
#ifndef COLLECTIVES_PROCESSORS_H
#define COLLECTIVES_PROCESSORS_H

#include <mpi.h>
#include <stdbool.h>

typedef struct Crowd {
    int ranks, processors; /* Ranks and processors of the node that has fewest processors for its ranks. */
    int nodes;
    bool oversubscribed;
} Crowd;

/* Collective. Counts the processors on which the ranks of a node may run. */
Crowd crowd_of(MPI_Comm comm);

#endif
