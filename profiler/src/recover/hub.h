/* A transport between processes of one machine: each rank has a socket to a hub, which performs the
 * collective operations. Ranks without a spool take no part. */
#ifndef IOLENS_HUB_H
#define IOLENS_HUB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "../adapter.h"

/* Returns the transport over `socket` for rank `rank` of `size`. */
const struct iolens_transport *hub_join(int socket, int rank, int size, const char *mpi_version);

/* Serves `count` ranks as the hub, in ascending order and the first of them 0, until all have closed their
 * sockets. Returns the index of the first rank that left too early, or -1 if all ended well. */
int hub_serve(const int *sockets, const int *ranks, int count, int size);

enum wire_call { WIRE_BARRIER, WIRE_BCAST, WIRE_ALLREDUCE, WIRE_EXSCAN, WIRE_GATHER, WIRE_REDUCE };

struct wire {
    enum wire_call call;
    enum iolens_type type;
    enum iolens_op op;
    size_t item_bytes,
        items; /* Numbers of bytes and items that each rank sends; in a broadcast only rank 0 sends. */
    iolens_combine_fn *combine;
};

bool wire_send(int socket, const void *bytes, size_t count);
bool wire_receive(int socket, void *bytes, size_t count);

#endif
