/* The tree of call chains: each node is an address and the chain of callers that led to it. A table that
 * records where a call came from has the number of a node for it.
 *
 * Numbers are valid within one process: node 7 of one rank is not node 7 of another. chain_numbers.h
 * converts them into the numbers of the log. */
#ifndef IOLENS_CALL_NODES_H
#define IOLENS_CALL_NODES_H

#include <stdbool.h>
#include <stdint.h>

#include "chain_table.h"

/* No node: the parent of an outermost node. In tables it is -1. */
#define CALL_NODE_NONE CHAIN_NONE

/* Stands for all chains for which there was no room; no node has this number. In tables it is -2. */
#define CALL_NODE_OTHER (CHAIN_NONE - 1)

/* Finds or makes the node of `address` below `parent`. `leaf` is true if the address was being executed,
 * false if a call returns to it. May be called from a signal handler. */
uint32_t call_node(uint32_t parent, uintptr_t address, bool leaf);

/* Returns the number of the node in the log, -2 if there was no room for it. May be called while the log is
 * written, after the table `call_nodes`. */
int32_t call_node_written(uint32_t node);

/* Calls `see` for each node of this process whose address lies in no object file (program or library). May be
 * called while the log is written. */
void call_nodes_of_no_object(void (*see)(uint64_t address, bool leaf, void *context), void *context);

#endif
