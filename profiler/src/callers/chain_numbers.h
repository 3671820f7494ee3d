/* The numbers by which the log names objects and nodes of call chains. Nodes that several ranks may have
 * get one number for all ranks. The rank's own numbers follow; they are for nodes in no object (code that
 * the program generated) and for nodes that did not fit into the common table. */
#ifndef IOLENS_CHAIN_NUMBERS_H
#define IOLENS_CHAIN_NUMBERS_H

#include <stdint.h>

#include "../adapter.h"
#include "chain_table.h"

enum { NODE_NONE = -1, NODE_OTHER = -2 };

/* A call chain's node, addressed by its number in its own process. */
struct called {
    uint64_t address, offset;
    /* The object file (program or library) in which the address lies; NULL if unknown. */
    const struct chain_object *object;
    uint32_t parent; /* Number of the caller's node: CHAIN_NONE if there is no caller, or the number of a node
                        for which there was no room. */
    bool leaf, known; /* `leaf`: the address itself was executed, and is not a return address. `known`: a node
                         of this number exists. */
};

struct chains_called {
    const struct called *node; /* Array of this process's nodes; valid until the nodes are described again. */
    size_t nodes, objects;
};

/* Limits and counts that are equal on all ranks: the rows that each table may have, and the numbers of nodes
 * and objects of all ranks together. */
struct chains_of_all {
    int64_t most, nodes, objects;
};

/* Collective. Numbers this rank's nodes. Returns 0, or -1. */
int chain_numbers_agree(const struct iolens_transport *transport, const struct chains_called *called,
                        const struct chains_of_all *all);

/* Returns the number in the log of this rank's node; NODE_OTHER if it has none. */
int32_t chain_number(uint32_t node);

/* Returns an object's number in the common table or in this rank's own table; -1 if neither has the
 * object. */
int32_t chain_object_number(const struct chain_object *object);

/* Returns the table that is common to all ranks, or the table of objects that only this rank numbers; NULL
 * if empty. */
const struct chain_table *chain_numbers_common(void);
const struct chain_table *chain_numbers_own(void);

/* Returns true if the log lacks nodes of some rank, because there was no room for them. */
bool chain_numbers_cut(void);

void chain_numbers_forget(void);

#endif
