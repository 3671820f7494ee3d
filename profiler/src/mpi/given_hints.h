/* Hints that the user gives from outside, for files whose name matches a pattern: IOLENS_HINTS, in the form
 * of Cray's MPICH_MPIIO_HINTS: PATTERN:key=value[:key=value...][,PATTERN:...]. A part without '=' continues
 * the value before it (cb_config_list=*:*); behind a comma, key=value goes on with the same pattern. */
#ifndef IOLENS_GIVEN_HINTS_H
#define IOLENS_GIVEN_HINTS_H

#include <mpi.h>
#include <stdbool.h>

/* The MPI_Info to open `path` with: `info` itself, or a new one with the hints that match added, which
 * replaces what the program gave. The new one is to be freed; `*made` says so. A pattern is a shell wildcard,
 * held against the whole path and against its last part. */
MPI_Info given_hints(const char *path, MPI_Info info, bool *made);

/* Calls `tell` for each hint that IOLENS_HINTS gives this path. */
void given_hints_each(const char *path, void (*tell)(void *context, const char *key, const char *value),
                      void *context);

#endif
