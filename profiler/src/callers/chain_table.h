/* Call chains in a form that is the same on all ranks: each node has its parent, its object and the offset
 * in the object's file, wherever a rank has mapped it. A table is one block of memory that ranks send to
 * each other and merge. Numbers are indices into it, and a parent precedes its children. */
#ifndef IOLENS_CHAIN_TABLE_H
#define IOLENS_CHAIN_TABLE_H

#include "../adapter.h"
#include "../memory/buffer.h"

enum { BUILD_ID_BYTES = 20, BUILD_ID_TEXT = 2 * BUILD_ID_BYTES, OBJECT_PATH_BYTES = 256 };

/* Marks an absent node or object, or one that did not fit into the table. */
#define CHAIN_NONE UINT32_MAX

/* The program or a library: its build id in hex, which identifies the build (empty without one), and the
 * file's path. Neither needs a final zero. */
struct chain_object {
    char build_id[BUILD_ID_TEXT], path[OBJECT_PATH_BYTES];
};

struct chain_node {
    uint64_t offset;          /* Virtual address in the object's file. */
    uint32_t parent;          /* Number of the node of the caller in the table, or CHAIN_NONE. */
    uint32_t object_and_leaf; /* Twice the number of the object, plus 1 if the address itself was executed. */
};

struct chain_table {
    uint32_t most_objects, most_nodes, objects, nodes;
    char memory[];
};

/* An index that finds nodes of a table; its size is fixed for a number of nodes. */
struct chain_index {
    struct buffer memory;
    uint32_t *slot; /* Each slot has 1 + the number of a node, or 0 if it is free. */
    size_t slots;
};

size_t chain_table_bytes(uint32_t most_objects, uint32_t most_nodes);

/* Makes an empty table in `buffer`, which must be empty; returns NULL without memory. */
struct chain_table *chain_table_make(struct buffer *buffer, uint32_t most_objects, uint32_t most_nodes);

struct chain_object *chain_objects(const struct chain_table *table);
struct chain_node *chain_nodes(const struct chain_table *table);

/* Finds an object. Two objects are equal if build id and name are equal, or the paths if there is no build
 * id. Returns the object's number, or CHAIN_NONE. */
uint32_t chain_object_find(const struct chain_table *table, const struct chain_object *object);
uint32_t chain_object_add(struct chain_table *table, const struct chain_object *object);

/* Makes the index of the nodes in `table`, with room for `nodes` in all. Returns false without memory. */
bool chain_index_open(struct chain_index *index, const struct chain_table *table, size_t nodes);
void chain_index_close(struct chain_index *index);

/* Returns the number of a node with these values, which is added if the table lacks it; CHAIN_NONE without
 * room. */
uint32_t chain_node_find(const struct chain_table *table, const struct chain_index *index,
                         const struct chain_node *node);
uint32_t chain_node_add(struct chain_table *table, struct chain_index *index, const struct chain_node *node);

/* Cuts off the unused room of the table in `buffer`. */
void chain_table_trim(struct buffer *buffer);

/* Combines tables for iolens_transport.reduce_records: all of table `in`, then the other entries of `inout`
 * as far as there is room. Without memory `inout` is unchanged. */
void chain_tables_combine(const void *in, void *inout);

/* Adds the entries that `higher` has and `lower` lacks to `lower`, whose buffer grows up to the limits in
 * `most`; the function has the type merge_add_fn (ranks/reduce.h). */
int chain_tables_add(struct buffer *lower, const struct buffer *higher, const void *most);

/* The numbers by which the log names objects and nodes of call chains. Nodes that several ranks may have
 * get one number for all ranks. The rank's own numbers follow; they are for nodes in no object (code that
 * the program generated) and for nodes that did not fit into the common table. */

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

/* The program and its libraries in memory: finds the object in which an address lies, and the place in its
 * file. An object stays known after it was unloaded. */

struct code_place {
    const struct chain_object *object; /* Object file that contains the address; NULL if unknown. */
    uint64_t offset; /* Virtual address in the object's file; the address itself if the object is unknown. */
};

/* Reads the list of loaded objects, if addresses are recorded. Only one thread at a time may do so, because
 * the loader holds its lock. */
void objects_look(void);

/* Called when an object may have been unloaded. */
void objects_unloaded(void);

/* Returns the present era of an address. The era ends when the object at the address is unloaded, because
 * another object may then be loaded there. May be called from a signal handler. */
uint32_t object_era(uint64_t address);

/* Returns the object that contains the address in this era, and the address in the object's file. */
struct code_place object_place(uint64_t address, uint32_t era);

/* Returns the number of programs and libraries that this process had or, while tables are collected, that all
 * ranks had together. */
int64_t objects_known(void);
int64_t objects_of_all(void);

#endif
