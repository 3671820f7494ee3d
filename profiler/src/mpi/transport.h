/* The collective operations that the core needs, over a private duplicate of MPI_COMM_WORLD. */
#ifndef IOLENS_TRANSPORT_H
#define IOLENS_TRANSPORT_H

#include "core.h"

/* Collective, in MPI_Init. Duplicates MPI_COMM_WORLD and returns the transport, or NULL if MPI failed. */
const struct iolens_transport *transport_open(void);

void transport_close(void);

#endif
