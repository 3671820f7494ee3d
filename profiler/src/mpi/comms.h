/* Facts about a communicator, found out at its first use and kept as its attribute, or as that of a
 * window. */
#ifndef IOLENS_COMMS_H
#define IOLENS_COMMS_H

#include <mpi.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct comm {
    atomic_int users; /* the attribute, and requests under way */
    atomic_bool said; /* the core has counted it */
    uint32_t id;      /* the same on all its ranks; 0: an intercommunicator, or not known */
    int rank, size;
    int remote;        /* ranks of the other group; 0: no intercommunicator */
    int in, out;       /* neighbours in a topology; 0 without one */
    int beyond;        /* of in, and of out, beyond an end of a Cartesian grid: nobody is there ... */
    bool *is_beyond;   /* ... these; NULL: none is */
    int first, stride; /* peer p is rank first + p * stride of MPI_COMM_WORLD ... */
    int *world;        /* ... or, where that is not so, rank world[p]; -1: outside of it */
};

/* With MPI; false when MPI refused. */
bool comms_start(void);

/* NULL for the null handle, and when MPI refuses to tell. */
struct comm *comm_of(MPI_Comm comm);

/* The communicator of a window. */
struct comm *comm_of_window(MPI_Win win);

/* The rank of MPI_COMM_WORLD that is `peer` here (there, of an intercommunicator); -1 outside of it. */
int comm_world_rank(const struct comm *comm, int peer);

/* Ranks that a collective call exchanges data with: of the other group, or all of the only one. */
static inline int comm_peers(const struct comm *comm) { return comm->remote ? comm->remote : comm->size; }

struct comm *comm_hold(struct comm *comm);
void comm_release(struct comm *comm);

#endif
