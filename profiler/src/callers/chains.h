/* Who called: the chain of a wrapped function's callers. */
#ifndef IOLENS_CHAINS_H
#define IOLENS_CHAINS_H

#include <stdint.h>

enum { CHAIN_MOST = 64 };

/* The node of the place that the wrapped function returns to, below up to `depth` - 1 of its callers. */
uint32_t chain_node(uintptr_t caller, int depth);

#endif
