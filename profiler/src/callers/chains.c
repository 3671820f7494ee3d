#include "chains.h"

#include "call_nodes.h"

uint32_t chain_node(uintptr_t caller, int depth)
{
    (void)depth;
    return call_node(CALL_NODE_NONE, caller, false);
}
