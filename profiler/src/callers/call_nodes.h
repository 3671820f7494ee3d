/* The tree of call chains: each node is an address and the chain that led to it. Whoever records where
 * something was called from keeps the number of a node.
 *
 * Numbers are the process's own: node 7 of one rank is not node 7 of another. Those in the log are other
 * ones, in chain_numbers.h. */
#ifndef IOLENS_CALL_NODES_H
#define IOLENS_CALL_NODES_H

#include <stdbool.h>
#include <stdint.h>

#include "chain_table.h"

/* No node: the parent of an outermost one. In tables -1. */
#define CALL_NODE_NONE CHAIN_NONE

/* All chains for which there was no room: no node has this number. In tables -2. */
#define CALL_NODE_OTHER (CHAIN_NONE - 1)

/* The node of `address` behind `parent`, found or made. `leaf`: the address was being executed; else it is
 * one that a call returns to. May be called from a signal handler. */
uint32_t call_node(uint32_t parent, uintptr_t address, bool leaf);

/* While the log is written, behind the table `call_nodes`: the node's number as it is there, -2 when there
 * was no room for the node. */
int32_t call_node_written(uint32_t node);

/* The same: see each of this process's nodes that is there. */
void call_nodes_each(void (*see)(uint64_t address, bool leaf, void *context), void *context);

#endif
