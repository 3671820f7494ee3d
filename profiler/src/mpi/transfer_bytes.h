/* The bytes of a transfer: those that the program asks for, and those that MPI says to have moved. */
#ifndef IOLENS_TRANSFER_BYTES_H
#define IOLENS_TRANSFER_BYTES_H

#include <mpi.h>
#include <stdint.h>

/* Returns the bytes of `count` elements; -1 if that is not known. */
int64_t asked_bytes(MPI_Count count, MPI_Datatype type);

/* Returns the bytes that a status tells of a transfer for which `asked` bytes were asked. Returns `asked` if
 * the library has set no count, or one that cannot be. */
int64_t moved_bytes(const MPI_Status *status, int64_t asked);

#endif
