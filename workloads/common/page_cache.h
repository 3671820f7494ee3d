/* Removes a file from the nodes' page caches, so that it is read from storage. */
#ifndef COMMON_PAGE_CACHE_H
#define COMMON_PAGE_CACHE_H

#include <mpi.h>

/* Collective over `comm`. When all ranks have called this function, each makes its node write the file `path`
 * to storage and drop its pages, and then waits for all others. Raises `*held`, the same on all ranks, to the
 * largest part of a file (0 to 1) that a node still holds; a file system in memory keeps all. Sets it to NaN
 * if a node cannot tell; NaN stays. `path` may differ from rank to rank. The user's own files need no
 * privilege. Caches of a file system's servers are not affected. */
void page_cache_forget_everywhere(const char *path, MPI_Comm comm, double *held);

#endif
