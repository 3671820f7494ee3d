/* Facts about a communicator. They are determined at its first use and stored as an attribute of the
 * communicator or of its window. */
#ifndef IOLENS_COMMS_H
#define IOLENS_COMMS_H

#include <mpi.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct comm {
    atomic_int users; /* Number of references: the attribute, and pending requests. */
    atomic_bool said; /* True if the core has already counted this communicator. */
    uint32_t id;      /* Number that is the same on all its ranks, of both groups; 0 if unknown. */
    int rank, size;
    int remote;  /* Number of ranks in the remote group; 0 if this is no intercommunicator. */
    int in, out; /* Number of neighbours in the topology; 0 without one. */
    int beyond;  /* Number of neighbours that do not exist: they lie beyond the edge of a Cartesian grid. */
    bool *is_beyond; /* True for each neighbour that does not exist; NULL if all exist. */
    /* Rank p of this communicator is rank first + p * stride of MPI_COMM_WORLD, if `world` is NULL. */
    int first, stride;
    /* Rank p is rank world[p] of MPI_COMM_WORLD; -1 if outside of it. NULL if `first` and `stride` describe
     * all ranks. */
    int *world;
};

/* Prepares the facts of communicators and windows after MPI_Init. Returns false if MPI refused. */
bool comms_start(void);

/* Returns the facts of a communicator; NULL for the null handle, or if MPI refuses. */
struct comm *comm_of(MPI_Comm comm);

/* Returns facts about the communicator from which a window was made. Their `id` is a number of the window
 * itself. */
struct comm *comm_of_window(MPI_Win win);

/* Returns the ranks of a group, for the caller to release; NULL without memory or if MPI refuses. */
struct comm *comm_of_group(MPI_Group group);

/* Returns the rank in MPI_COMM_WORLD of the rank `peer` of this communicator (of its remote group, if it has
 * one); -1 if outside of MPI_COMM_WORLD. */
int comm_world_rank(const struct comm *comm, int peer);

/* Returns the number of ranks that take part in a collective call, of both groups if there are two. */
static inline int comm_members(const struct comm *comm) { return comm->size + comm->remote; }

/* Returns the number of ranks that a collective call exchanges data with: those of the remote group, or of
 * the communicator. */
static inline int comm_peers(const struct comm *comm) { return comm->remote ? comm->remote : comm->size; }

/* Writes the neighbours that this rank receives from (`comm->in`), and then those that it sends to
 * (`comm->out`), as ranks of the communicator or MPI_PROC_NULL. `ranks` has room for twice as many. Returns
 * false if MPI refuses. */
bool comm_neighbours(const struct comm *comm, MPI_Comm handle, int *ranks);

struct comm *comm_hold(struct comm *comm);
void comm_release(struct comm *comm);

#endif
