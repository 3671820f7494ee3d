/* A vector of doubles, one for each of LANES neighbouring lines of a sweep.
 *
 * All arithmetic of the solver is on whole vectors, lane by lane. A point therefore sees the same operations
 * whatever its place in a cell, and the solution has the same bits for any number of ranks. */
#ifndef BTIO_LANES_H
#define BTIO_LANES_H

#ifdef __AVX512F__
enum { LANES = 8 };
#else
enum { LANES = 4 };
#endif

typedef double lanes __attribute__((vector_size(LANES * sizeof(double))));

/* A vector at any address, aligned or not. */
typedef double lanes_anywhere
    __attribute__((vector_size(LANES * sizeof(double)), aligned(sizeof(double)), may_alias));

#endif
