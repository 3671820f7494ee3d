/* Leads the program's calls of MPI to the adapter for its MPI library, whichever library that is and whenever
 * it is loaded. */
#ifndef IOLENS_DISPATCH_H
#define IOLENS_DISPATCH_H

#include <stdbool.h>

/* Loads the adapter if the process has an MPI library. Called when the process begins. `wanted` is false if
 * MPI is not to be recorded. */
void dispatch_start(bool wanted);

/* Programs that start the ranks of a job. They are not recorded, because the files that they read and write
 * are not the job's. */

/* Returns true if the words, which end with NULL, are the command of a launcher, or of an interpreter of a
 * launcher that is a script. */
bool launcher_is(char *const *words);

#endif
