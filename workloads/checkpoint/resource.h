/* Resource files in ESMF's format, as MAPL's simulators read them: `KEY: value` on a line, # or ! begins a
 * comment. */
#ifndef CHECKPOINT_RESOURCE_H
#define CHECKPOINT_RESOURCE_H

#include "config.h"

/* Fills in what the file names. Upper and lower case are alike. Warns of a key that is unknown or given
 * again; a missing required key or a value of the wrong kind is trouble. Called by one rank. */
void resource_read(const char *path, const Program *program, Problem *problem, Trouble *trouble);

#endif
