/* Functions that the two methods without MPI-IO share. */
#ifndef BTIO_IO_POSIX_H
#define BTIO_IO_POSIX_H

#include "store.h"

/* A shared file is created by rank 0 before the others open it. */
void posix_open(Store *store, bool writing);

/* Moves all of `bytes` at `offset`; one call unless the kernel moves less. Notes what keeps it from that. */
void posix_write(Store *store, const void *from, size_t bytes, long long offset);
void posix_read(Store *store, void *to, size_t bytes, long long offset);

void posix_close(Store *store);

#endif
