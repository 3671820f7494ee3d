/* Functions that the two methods without MPI-IO share. */
#ifndef BTIO_IO_POSIX_H
#define BTIO_IO_POSIX_H

#include "store.h"

/* Opens a shared file, which rank 0 creates before the others open it. */
void posix_open(Store *store, bool writing);

/* Moves all `bytes` at `offset`, by one call unless the kernel moves less. Notes the reason of a failure. */
void posix_write(Store *store, const void *from, size_t bytes, long long offset);
void posix_read(Store *store, void *to, size_t bytes, long long offset);

void posix_close(Store *store);

#endif
