/* The bytes of an MPI call that Darshan's APMPI record counts, and the size classes by which the record
 * counts messages. */
#ifndef IOLENS_MPI_MOVES_H
#define IOLENS_MPI_MOVES_H

#include <stdint.h>

enum { APMPI_SIZES = 6 };

/* Kinds of bytes that an operation counts, as bits. */
enum mpi_moves { APMPI_NONE = 0, APMPI_SENT = 1, APMPI_RECEIVED = 2, APMPI_BOTH = 3, APMPI_POSTED = 4 };

/* Returns the size class of a message; the upper bounds are 256 B, 1 KiB, 8 KiB, 256 KiB and 1 MiB
 * (inclusive). */
static inline int apmpi_size_class(int64_t bytes)
{
    return (bytes > 256) + (bytes > 1024) + (bytes > 8192) + (bytes > 262144) + (bytes > 1048576);
}

#endif
