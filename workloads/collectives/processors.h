/* Finds out whether every rank has its own processor. */
#ifndef COLLECTIVES_PROCESSORS_H
#define COLLECTIVES_PROCESSORS_H

#include <mpi.h>
#include <stdbool.h>

typedef struct Crowd {
    int ranks, processors; /* Number of ranks, and number of processors, on the node with the fewest
                            * processors per rank. */
    int nodes;
    bool oversubscribed;
} Crowd;

/* Counts, on every node, the ranks and the processors on which they may run. Collective. */
Crowd crowd_of(MPI_Comm comm);

#endif
