/* The other processes on this node that the launcher of this process has started. */
#ifndef IOLENS_NEIGHBOURS_H
#define IOLENS_NEIGHBOURS_H

#include <stdbool.h>

/* Returns false if another process that the launcher started, itself or through up to three shells, is of the
 * same job and has loaded an MPI library but no adapter of this library. Returns true also if that cannot be
 * told: /proc is hidden, the process is on another node, or MPI is linked statically. */
bool neighbours_are_recorded(void);

#endif
