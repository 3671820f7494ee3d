/* The arguments with which `env` starts the program that MPI_Comm_spawn would start. */
#ifndef IOLENS_SPAWN_NAME_H
#define IOLENS_SPAWN_NAME_H

#include <stddef.h>

#include "handles.h"

#define SPAWN_NAME_BYTES 4096

/* A name of `command` for `env`, into `name`. False where `env` would not find the program here or might take
 * another one: then MPI is left to start it, or to say why it cannot. */
bool spawn_name(const char *command, MPI_Info info, char *name, size_t bytes);

#endif
