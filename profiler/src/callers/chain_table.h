/* Call chains by what they mean: each node by its parent, the object that it lies in and where in the file,
 * so that it is the same on all ranks, wherever these have the object in memory. A table is one piece of
 * memory, which ranks hand to one another and merge. Its numbers are places in it; a parent comes before its
 * nodes. */
#ifndef IOLENS_CHAIN_TABLE_H
#define IOLENS_CHAIN_TABLE_H

#include <stddef.h>
#include <stdint.h>

#include "../memory/buffer.h"

enum { BUILD_ID_BYTES = 20, BUILD_ID_TEXT = 2 * BUILD_ID_BYTES, OBJECT_PATH_BYTES = 256 };

/* No node, no object: there is none, or no room for it. */
#define CHAIN_NONE UINT32_MAX

/* The program or a library: the linker's note that tells one build from all others, in hex, empty without
 * one, and the file's path. Neither needs to end with a zero. */
struct chain_object {
    char build_id[BUILD_ID_TEXT], path[OBJECT_PATH_BYTES];
};

struct chain_node {
    uint64_t offset;          /* virtual address in the object's file */
    uint32_t parent;          /* a node, or CHAIN_NONE */
    uint32_t object_and_leaf; /* 2 * object + leaf */
};

struct chain_table {
    uint32_t most_objects, most_nodes, objects, nodes;
    char memory[];
};

/* Finds nodes of a table; made for a number of them. */
struct chain_index {
    struct buffer memory;
    uint32_t *slot; /* 1 + the number of a node; 0: free */
    size_t slots;
};

size_t chain_table_bytes(uint32_t most_objects, uint32_t most_nodes);

/* An empty table in `buffer`, which must be empty; NULL without memory. */
struct chain_table *chain_table_make(struct buffer *buffer, uint32_t most_objects, uint32_t most_nodes);

struct chain_object *chain_objects(const struct chain_table *table);
struct chain_node *chain_nodes(const struct chain_table *table);

/* Objects are the same when they have a build id and a name in common; without a build id, by their paths.
 * Returns the object's number, or CHAIN_NONE. */
uint32_t chain_object_find(const struct chain_table *table, const struct chain_object *object);
uint32_t chain_object_add(struct chain_table *table, const struct chain_object *object);

/* The index of the nodes that `table` has, with room for so many in all. False without memory. */
bool chain_index_open(struct chain_index *index, const struct chain_table *table, size_t nodes);
void chain_index_close(struct chain_index *index);

/* Returns the node's number, or CHAIN_NONE. */
uint32_t chain_node_find(const struct chain_table *table, const struct chain_index *index,
                         const struct chain_node *node);
uint32_t chain_node_add(struct chain_table *table, struct chain_index *index, const struct chain_node *node);

/* Cut off the room that the table in `buffer` does not use. */
void chain_table_trim(struct buffer *buffer);

/* For iolens_transport.reduce_records: a table with all of the table `in`, then what `inout` has more, as far
 * as there is room. Without memory `inout` stays as it is. */
void chain_tables_combine(const void *in, void *inout);

/* The same where a buffer grows with the table in it, up to so much as `most` has room for, a merge_add_fn.
 */
int chain_tables_add(struct buffer *lower, const struct buffer *higher, const void *most);

#endif
