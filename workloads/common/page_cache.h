/* Removes a file from the nodes' page caches, so that it is read from storage. */
#ifndef COMMON_PAGE_CACHE_H
#define COMMON_PAGE_CACHE_H

#include <mpi.h>

/* Collective over `comm`. When all ranks are here, each has its node write the file `path` out and forget its
 * pages, and none goes on before all have. Raises `*held`, the same on all ranks, to the largest part of a
 * file that a node holds all the same, 0 to 1 (a file system in memory keeps all), or sets it to NaN if a
 * node cannot tell; NaN stays. `path` may differ from rank to rank. Needs no privilege on files of one's own.
 * What servers of a file system keep is not touched. */
void page_cache_forget_everywhere(const char *path, MPI_Comm comm, double *held);

#endif
