/* Resource files in ESMF's format, as MAPL's simulators read them: `KEY: value` on a line, # or ! begins a
 * comment. */
#ifndef CHECKPOINT_RESOURCE_H
#define CHECKPOINT_RESOURCE_H

#include "config.h"

/* Reads the values in the file into `problem`. Upper and lower case do not differ. Warns of keys that are
 * unknown or repeated; a missing required key or a value of the wrong kind is an error. Called by one
 * rank. */
void resource_read(const char *path, const Program *program, Problem *problem, Trouble *trouble);

#endif
