/* Finds the largest message that is sent without waiting for its receiver (the eager protocol). */
#ifndef COLLECTIVES_EAGER_H
#define COLLECTIVES_EAGER_H

#include <mpi.h>

enum { EAGER_NONE = -1 };

/* Returns the size of the largest message, up to `most` bytes, whose send completes before its receive is
 * posted; EAGER_NONE if not even a send of one byte does. Uses bisection, between the two ranks of `comm`.
 * Collective. */
long long eager_observed(long long most, MPI_Comm comm);

#endif
