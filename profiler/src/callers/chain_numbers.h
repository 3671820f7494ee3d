/* The numbers by which the log names nodes of call chains and objects. What a rank has that others may have
 * too gets one number for all ranks; what none other can have, since it lies in no object (code that the
 * program generated), and what there is no room for, gets the rank's own numbers behind those. */
#ifndef IOLENS_CHAIN_NUMBERS_H
#define IOLENS_CHAIN_NUMBERS_H

#include <stdint.h>

#include "../adapter.h"
#include "chain_table.h"

enum { NODE_NONE = -1, NODE_OTHER = -2 };

/* A node as its process knows it, by its number there. */
struct called {
    uint64_t address, offset;
    const struct chain_object *object; /* where the offset counts; NULL: not known */
    uint32_t parent;                   /* a number, CHAIN_NONE, or one that there is no node of */
    bool leaf, known;                  /* not known: there is no node of this number */
};

struct chains_called {
    const struct called *node; /* stays where it is until the next call */
    size_t nodes, objects;
};

/* The same on all ranks: how many rows each table may have, and how many nodes and objects all ranks have. */
struct chains_of_all {
    int64_t most, nodes, objects;
};

/* Collective. Number this rank's nodes. Returns 0, or -1. */
int chain_numbers_agree(const struct iolens_transport *transport, const struct chains_called *called,
                        const struct chains_of_all *all);

/* The number in the log of this rank's node; NODE_OTHER: it has none. */
int32_t chain_number(uint32_t node);

/* The number of an object that lies in one of the tables below; -1: in neither. */
int32_t chain_object_number(const struct chain_object *object);

/* What is numbered for all ranks, and the objects that this rank numbers behind those; NULL: nothing. */
const struct chain_table *chain_numbers_common(void);
const struct chain_table *chain_numbers_own(void);

/* Whether some rank's nodes had no room. */
bool chain_numbers_cut(void);

void chain_numbers_forget(void);

#endif
