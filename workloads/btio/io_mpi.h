/* Functions that the two MPI-IO methods share. */
#ifndef BTIO_IO_MPI_H
#define BTIO_IO_MPI_H

#include "store.h"

/* Opens the file with the hints and sets the view with the same hints, because some libraries use them only
 * there. */
void mpi_open(Store *store, bool writing, MPI_Datatype etype, MPI_Datatype view);

/* Counts a call of MPI-IO, and notes an error if it failed or moved fewer than `wanted` items of `type`. */
void mpi_moved(Store *store, int code, const MPI_Status *status, MPI_Datatype type, int wanted,
               const char *verb);

void mpi_close(Store *store);

#endif
