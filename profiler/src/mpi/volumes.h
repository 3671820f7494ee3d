/* Computes how many bytes a collective call takes from this rank's buffers and how many it writes to them,
 * including the part that the rank sends to itself. */
#ifndef IOLENS_VOLUMES_H
#define IOLENS_VOLUMES_H

#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>

#include "comms.h"

struct volume {
    int64_t sent, received;
};

/* An array of counts: int, or MPI_Count in the functions whose names end in _c. */
struct counts {
    const void *array;
    bool wide;
};

int64_t bytes_of(int64_t count, MPI_Datatype type);

struct volume volume_bcast(const struct comm *comm, int root, int64_t bytes);
struct volume volume_reduce(const struct comm *comm, int root, int64_t bytes);
struct volume volume_gather(const struct comm *comm, int root, int64_t sent, int64_t received);
struct volume volume_scatter(const struct comm *comm, int root, int64_t sent, int64_t received);

/* Returns the bytes of an all-to-all exchange. `sent` is -1 for an exchange in place, which sends as many
 * bytes as it receives. */
struct volume volume_exchange(int64_t sent, int64_t received);

/* Returns the sum of the bytes of `many` blocks, except those marked in `without` (NULL marks none). */
int64_t bytes_of_all(int many, struct counts counts, MPI_Datatype type, const bool *without);
int64_t bytes_of_types(int many, struct counts counts, const MPI_Datatype *types, const bool *without);

/* Returns true if the root's arguments are used on this rank. */
bool volume_is_root(const struct comm *comm, int root);

#endif
