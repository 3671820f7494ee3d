/* The tree of call chains: each node is an address and the chain of callers that led to it. A table that
 * records where a call came from has the number of a node for it.
 *
 * Numbers are valid within one process: node 7 of one rank is not node 7 of another. chain_table.h
 * converts them into the numbers of the log. */
#ifndef IOLENS_CALL_NODES_H
#define IOLENS_CALL_NODES_H

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
