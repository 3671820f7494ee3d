/* Hints that the user gives from outside, for files whose name matches a pattern: IOLENS_HINTS. */
#ifndef IOLENS_GIVEN_HINTS_H
#define IOLENS_GIVEN_HINTS_H

#include <mpi.h>
#include <stdbool.h>

/* Returns the MPI_Info to open `path` with: `info` itself, or a new one in which matching hints replace those
 * of the program. `*made` is set for a new one, which the caller must free. A pattern is a shell wildcard; it
 * may match the whole path or its last part. */
MPI_Info given_hints(const char *path, MPI_Info info, bool *made);

/* Calls `tell` for each hint that IOLENS_HINTS gives this path. */
void given_hints_each(const char *path, void (*tell)(void *context, const char *key, const char *value),
                      void *context);

#endif
