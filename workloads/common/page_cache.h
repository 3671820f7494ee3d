/* Removes a file from the nodes' page caches, so that it is read from storage. */
#ifndef COMMON_PAGE_CACHE_H
#define COMMON_PAGE_CACHE_H

#include <mpi.h>

/* Collective over `comm`. When all ranks have called this function, each makes its node write the file `path`
 * to storage and drop its pages, and then waits for all others. If a node still holds a larger part of its
 * file (0 to 1) than `*held`, sets `*held` to that part, on all ranks; a file system in memory keeps all. If
 * a node cannot tell, `*held` becomes NaN and stays NaN. `path` may differ from rank to rank. The user's own
 * files need no privilege. Caches of a file system's servers are not affected. */
void page_cache_forget_everywhere(const char *path, MPI_Comm comm, double *held);

#endif
