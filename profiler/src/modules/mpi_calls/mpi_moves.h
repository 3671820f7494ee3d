/* The bytes of an MPI call that Darshan's APMPI record counts, and the sizes by which it counts them. */
#ifndef IOLENS_MPI_MOVES_H
#define IOLENS_MPI_MOVES_H

#include <stdint.h>

enum { APMPI_SIZES = 6 };

/* As bits. */
enum mpi_moves { APMPI_NONE = 0, APMPI_SENT = 1, APMPI_RECEIVED = 2, APMPI_BOTH = 3, APMPI_POSTED = 4 };

/* 0: up to 256 B, then up to 1 KiB, 8 KiB, 256 KiB, 1 MiB, and above; each with its upper bound. */
static inline int apmpi_size_class(int64_t bytes)
{
    return (bytes > 256) + (bytes > 1024) + (bytes > 8192) + (bytes > 262144) + (bytes > 1048576);
}

#endif
