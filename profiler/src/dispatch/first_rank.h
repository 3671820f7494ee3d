/* The ranks of a job before MPI has begun. */
#ifndef IOLENS_FIRST_RANK_H
#define IOLENS_FIRST_RANK_H

#include <stdbool.h>

/* Returns true in the one rank that prints a message: rank 0 by the launcher's variables, since MPI cannot be
 * asked, or a process without a launcher. */
bool first_rank(void);

/* Returns true if a launcher gave this process a rank. */
bool has_rank(void);

#endif
