/* Writes the arguments with which `env` starts the same program that MPI_Comm_spawn would start. */
#ifndef IOLENS_SPAWN_NAME_H
#define IOLENS_SPAWN_NAME_H

#include <stddef.h>

#include "handles.h"

#define SPAWN_NAME_BYTES 4096

/* Writes to `name` the form of `command` that `env` understands. Returns false if `env` would find no program
 * here, or another one; MPI then starts the program itself or reports the error. */
bool spawn_name(const char *command, MPI_Info info, char *name, size_t bytes);

#endif
