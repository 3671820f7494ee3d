/* The collective operations that the core needs, over a private duplicate of MPI_COMM_WORLD. */
#ifndef IOLENS_TRANSPORT_H
#define IOLENS_TRANSPORT_H

#include "core.h"

/* Duplicate MPI_COMM_WORLD (collective, so in MPI_Init) and return the transport, or NULL when MPI failed. */
const struct iolens_transport *transport_open(void);

void transport_close(void);

#endif
