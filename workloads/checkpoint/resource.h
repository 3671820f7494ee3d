/* Resource files in ESMF's format, as MAPL's simulators read them: `KEY: value` on a line, # or ! begins a
 * comment. */
#ifndef CHECKPOINT_RESOURCE_H
#define CHECKPOINT_RESOURCE_H

#include "config.h"

/* Fills in the values that the file has. Upper and lower case are equal. Warns of keys that are unknown or
 * repeated; missing required keys and values of a wrong kind are errors. Called by one rank. */
void resource_read(const char *path, const Program *program, Problem *problem, Trouble *trouble);

#endif
