/* A transport between processes of one machine: each rank has a socket to a hub, which does the collective
 * operations. Ranks that left nothing take no part. */
#ifndef IOLENS_HUB_H
#define IOLENS_HUB_H

#include <stdbool.h>

#include "../adapter.h"

/* In a rank: the transport over `socket`, as rank `rank` of `size`. */
const struct iolens_transport *hub_join(int socket, int rank, int size, const char *mpi_version);

/* In the hub: serve `count` ranks, in ascending order, the first of them 0, until all have closed their
 * sockets. Returns the index of the first one that left too early, or -1 when all ended well. */
int hub_serve(const int *sockets, const int *ranks, int count, int size);

#endif
