/* The processes that the launcher of this one has started on the same node. */
#ifndef IOLENS_NEIGHBOURS_H
#define IOLENS_NEIGHBOURS_H

#include <stdbool.h>

/* Returns false if another child of the launcher, of the same job, has loaded an MPI library but no adapter
 * of this library. Returns true also if that cannot be told: /proc is hidden, a shell started the rank, or
 * MPI is linked statically. */
bool neighbours_are_recorded(void);

#endif
