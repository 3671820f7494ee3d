/* Finds out whether every rank has its own processor. */
#ifndef COLLECTIVES_PROCESSORS_H
#define COLLECTIVES_PROCESSORS_H

#include <mpi.h>
#include <stdbool.h>

typedef struct Crowd {
    int ranks, processors; /* Numbers of ranks and of processors on the node that has the fewest processors
                            * for each rank. */
    int nodes;
    bool oversubscribed;
} Crowd;

/* Counts, on every node, the ranks and the processors on which they may run. Collective. */
Crowd crowd_of(MPI_Comm comm);

#endif
