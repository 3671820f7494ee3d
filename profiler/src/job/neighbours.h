/* The other processes on this node that the launcher of this process has started. */
#ifndef IOLENS_NEIGHBOURS_H
#define IOLENS_NEIGHBOURS_H

#include <stdbool.h>

/* Returns false if the launcher also started a process of this job, directly or through up to three shells,
 * that has loaded an MPI library but no adapter of this library. Returns true also if that cannot be found
 * out: /proc is hidden, the process is on another node, or MPI is linked statically. */
bool neighbours_are_recorded(void);

#endif
