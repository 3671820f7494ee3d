#include "chain_table.h"

#include <string.h>

size_t chain_table_bytes(uint32_t most_objects, uint32_t most_nodes)
{
    return sizeof(struct chain_table) + most_objects * sizeof(struct chain_object) +
           most_nodes * sizeof(struct chain_node);
}

/* In a table the nodes precede the objects, because the size of a node keeps everything behind it aligned. */
struct chain_node *chain_nodes(const struct chain_table *table) { return (struct chain_node *)table->memory; }

struct chain_object *chain_objects(const struct chain_table *table)
{
    return (struct chain_object *)(chain_nodes(table) + table->most_nodes);
}

struct chain_table *chain_table_make(struct buffer *buffer, uint32_t most_objects, uint32_t most_nodes)
{
    struct chain_table *table = buffer_add(buffer, chain_table_bytes(most_objects, most_nodes));
    if (table)
        *table = (struct chain_table){.most_objects = most_objects, .most_nodes = most_nodes};
    return table;
}

static const char *name_in(const char *path, size_t *bytes)
{
    size_t length = strnlen(path, OBJECT_PATH_BYTES), begin = length;
    while (begin > 0 && path[begin - 1] != '/')
        begin--;
    *bytes = length - begin;
    return path + begin;
}

/* Returns true if two objects are the same file or copies of it, because each node may have the same build in
 * another folder. The names are compared too, because programs may share a build id that their authors
 * chose. */
static bool same_object(const struct chain_object *a, const struct chain_object *b)
{
    size_t length, other;
    if (memcmp(a->build_id, b->build_id, sizeof a->build_id) != 0)
        return false;
    if (!a->build_id[0])
        return memcmp(a->path, b->path, sizeof a->path) == 0;
    const char *name = name_in(a->path, &length), *others = name_in(b->path, &other);
    return length == other && memcmp(name, others, length) == 0;
}

uint32_t chain_object_find(const struct chain_table *table, const struct chain_object *object)
{
    const struct chain_object *known = chain_objects(table);
    uint32_t number = 0;
    while (number < table->objects && !same_object(&known[number], object))
        number++;
    return number < table->objects ? number : CHAIN_NONE;
}

uint32_t chain_object_add(struct chain_table *table, const struct chain_object *object)
{
    uint32_t number = chain_object_find(table, object);
    if (number != CHAIN_NONE || table->objects == table->most_objects)
        return number;
    chain_objects(table)[table->objects] = *object;
    return table->objects++;
}

static bool same_node(const struct chain_node *a, const struct chain_node *b)
{
    return a->offset == b->offset && a->parent == b->parent && a->object_and_leaf == b->object_and_leaf;
}

/* Mixes the bits of a hash. The multiplier and the shift are those of splitmix64 (Steele, Lea, Flood 2014).
 */
static uint64_t mixed(uint64_t hash)
{
    hash *= UINT64_C(0x94d049bb133111eb);
    return hash ^ hash >> 31;
}

/* Returns the slot of the node, or the free slot where it belongs. */
static uint32_t *slot_of(const struct chain_table *table, const struct chain_index *index,
                         const struct chain_node *node)
{
    const struct chain_node *nodes = chain_nodes(table);
    uint64_t key = (uint64_t)node->parent << 32 | node->object_and_leaf;
    size_t at = mixed(mixed(node->offset) ^ key) & (index->slots - 1);
    while (index->slot[at] && !same_node(&nodes[index->slot[at] - 1], node))
        at = (at + 1) & (index->slots - 1);
    return &index->slot[at];
}

bool chain_index_open(struct chain_index *index, const struct chain_table *table, size_t nodes)
{
    *index = (struct chain_index){.slots = 2};
    while (index->slots < 2 * nodes)
        index->slots *= 2;
    index->slot = buffer_add(&index->memory, index->slots * sizeof *index->slot);
    for (uint32_t i = 0; index->slot && i < table->nodes; i++)
        *slot_of(table, index, &chain_nodes(table)[i]) = i + 1;
    return index->slot != NULL;
}

void chain_index_close(struct chain_index *index) { buffer_free(&index->memory); }

uint32_t chain_node_find(const struct chain_table *table, const struct chain_index *index,
                         const struct chain_node *node)
{
    uint32_t found = *slot_of(table, index, node);
    return found ? found - 1 : CHAIN_NONE;
}

uint32_t chain_node_add(struct chain_table *table, struct chain_index *index, const struct chain_node *node)
{
    uint32_t *slot = slot_of(table, index, node);
    if (*slot)
        return *slot - 1;
    if (table->nodes == table->most_nodes)
        return CHAIN_NONE;
    chain_nodes(table)[table->nodes] = *node;
    *slot = ++table->nodes;
    return *slot - 1;
}

static void copy(struct chain_table *to, const struct chain_table *from)
{
    to->objects = from->objects;
    to->nodes = from->nodes;
    memcpy(chain_objects(to), chain_objects(from), from->objects * sizeof(struct chain_object));
    memcpy(chain_nodes(to), chain_nodes(from), from->nodes * sizeof(struct chain_node));
}

static uint32_t smaller(uint32_t a, uint32_t b) { return a < b ? a : b; }

/* Adds all nodes of another table, except those whose object or parent is missing. `numbers` has room for the
 * numbers of all objects and nodes. */
static void add_all(struct chain_table *table, struct chain_index *index, const struct chain_table *more,
                    uint32_t *numbers)
{
    uint32_t *objects = numbers, *nodes = numbers + more->objects;
    for (uint32_t i = 0; i < more->objects; i++)
        objects[i] = chain_object_add(table, &chain_objects(more)[i]);
    for (uint32_t i = 0; i < more->nodes; i++) {
        struct chain_node node = chain_nodes(more)[i];
        uint32_t object = objects[node.object_and_leaf / 2], parent = node.parent;
        nodes[i] = CHAIN_NONE;
        if (parent != CHAIN_NONE && (parent = nodes[parent]) == CHAIN_NONE)
            continue;
        if (object == CHAIN_NONE)
            continue;
        node.parent = parent;
        node.object_and_leaf = 2 * object + node.object_and_leaf % 2;
        nodes[i] = chain_node_add(table, index, &node);
    }
}

/* Makes `table` the union of `lower` and `higher`, in this order. Returns false, with nothing changed, if
 * memory is short. */
static bool join(struct chain_table *table, const struct chain_table *lower, const struct chain_table *higher)
{
    struct buffer numbers = {0};
    struct chain_index index = {0};
    uint32_t *number = buffer_add(&numbers, (1 + (size_t)higher->objects + higher->nodes) * sizeof *number);
    bool ready = number && chain_index_open(&index, lower, (size_t)lower->nodes + higher->nodes);
    if (ready) {
        copy(table, lower);
        add_all(table, &index, higher, number);
    }
    chain_index_close(&index);
    buffer_free(&numbers);
    return ready;
}

void chain_tables_combine(const void *in, void *inout)
{
    const struct chain_table *lower = in;
    struct chain_table *table = inout;
    struct buffer kept = {0};
    if (lower->most_nodes != table->most_nodes || lower->most_objects != table->most_objects)
        return;
    struct chain_table *higher = chain_table_make(&kept, table->objects, table->nodes);
    if (higher) {
        copy(higher, table);
        join(table, lower, higher);
    }
    buffer_free(&kept);
}

void chain_table_trim(struct buffer *buffer)
{
    struct chain_table *table = (struct chain_table *)buffer->data;
    const struct chain_object *objects = chain_objects(table);
    table->most_objects = table->objects;
    table->most_nodes = table->nodes;
    memmove(chain_objects(table), objects, table->objects * sizeof *objects);
    buffer->used = chain_table_bytes(table->objects, table->nodes);
}

int chain_tables_add(struct buffer *lower, const struct buffer *higher, const void *most)
{
    const struct chain_table *low = (const struct chain_table *)lower->data;
    const struct chain_table *high = (const struct chain_table *)higher->data, *bound = most;
    struct buffer both = {0};
    struct chain_table *table =
        chain_table_make(&both, smaller(bound->most_objects, low->objects + high->objects),
                         smaller(bound->most_nodes, low->nodes + high->nodes));
    if (!table || !join(table, low, high)) {
        buffer_free(&both);
        return -1;
    }
    chain_table_trim(&both);
    buffer_free(lower);
    *lower = both;
    return 0;
}
