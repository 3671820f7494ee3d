/* Programs that start the ranks of a job. They are not recorded, because the files that they read and write
 * are not the job's. */
#ifndef IOLENS_LAUNCHER_H
#define IOLENS_LAUNCHER_H

#include <stdbool.h>

/* Returns true if the words, which end with NULL, are the command of a launcher, or of an interpreter of a
 * launcher that is a script. */
bool launcher_is(char *const *words);

#endif
