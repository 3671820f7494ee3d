/* The chain of callers of a wrapped function. */
#ifndef IOLENS_CHAINS_H
#define IOLENS_CHAINS_H

#include <stdint.h>

enum { CHAIN_MOST = 64 };

/* Prepares the search; called once the program's libraries are loaded. */
void chains_start(void);

/* Returns the place in the program that made the call which returns to `caller`. If that place lies in the
 * library of MPI's Fortran binding, it is the place that called the binding. The only cost is a comparison
 * if no such library is loaded. */
uintptr_t chain_program(uintptr_t caller);

/* Returns the node of `caller`, an address to which the running function returns, with up to `depth` - 1 of
 * its callers. */
uint32_t chain_node(uintptr_t caller, int depth);

#endif
