/* Who called: the chain of a wrapped function's callers. */
#ifndef IOLENS_CHAINS_H
#define IOLENS_CHAINS_H

#include <stdint.h>

enum { CHAIN_MOST = 64 };

/* Once the program's libraries are loaded. */
void chains_start(void);

/* Where the program made the call that returns to `caller`: there, or, when that lies in the library of MPI's
 * Fortran binding, the place that called the binding. Costs nothing but a look where no such library is
 * loaded. */
uintptr_t chain_program(uintptr_t caller);

/* The node of `caller`, a place that the running function returns to, below up to `depth` - 1 of its callers.
 */
uint32_t chain_node(uintptr_t caller, int depth);

#endif
