#include "../ranks/reduce.h"
#include "chain_table.h"

/* Limits of the table that ranks send to each other, which takes at most 1.3 MB. */
enum { COMMON_OBJECTS = 1024, COMMON_NODES = 65536 };

static struct {
    struct buffer common, own, numbers; /* Array `numbers`: for each node of this rank, the number (int32_t)
                                           that the node has in the log. */
    struct chains_called called;
    bool cut;
} iolens_chains;

static struct chain_table *table_in(const struct buffer *buffer)
{
    return buffer->used > 0 ? (struct chain_table *)buffer->data : NULL;
}

const struct chain_table *chain_numbers_common(void) { return table_in(&iolens_chains.common); }
const struct chain_table *chain_numbers_own(void) { return table_in(&iolens_chains.own); }

bool chain_numbers_cut(void) { return iolens_chains.cut; }

void chain_numbers_forget(void)
{
    buffer_free(&iolens_chains.common);
    buffer_free(&iolens_chains.own);
    buffer_free(&iolens_chains.numbers);
    iolens_chains.called = (struct chains_called){0};
    iolens_chains.cut = false;
}

int32_t chain_number(uint32_t node)
{
    const int32_t *number = (const int32_t *)iolens_chains.numbers.data;
    if (node == CHAIN_NONE)
        return NODE_NONE;
    return node < iolens_chains.called.nodes ? number[node] : NODE_OTHER;
}

int32_t chain_object_number(const struct chain_object *object)
{
    const struct chain_table *common = chain_numbers_common(), *own = chain_numbers_own();
    uint32_t number = common ? chain_object_find(common, object) : CHAIN_NONE;
    if (number == CHAIN_NONE && own && (number = chain_object_find(own, object)) != CHAIN_NONE)
        number += common ? common->objects : 0;
    return number == CHAIN_NONE ? -1 : (int32_t)number;
}

/* Translates a rank's node into the form that all ranks share. Returns false if its object or parent is
 * unknown. */
static bool describe(const struct called *called, uint32_t object, struct chain_node *node)
{
    int32_t parent = chain_number(called->parent);
    if (object == CHAIN_NONE || parent == NODE_OTHER)
        return false;
    *node = (struct chain_node){.offset = called->offset,
                                .parent = parent == NODE_NONE ? CHAIN_NONE : (uint32_t)parent,
                                .object_and_leaf = 2 * object + called->leaf};
    return true;
}

/* Finds the numbers of the rank's nodes in the table; if `add`, also inserts the nodes that the table lacks.
 */
static void number_by(struct chain_table *table, struct chain_index *index, bool add)
{
    int32_t *number = (int32_t *)iolens_chains.numbers.data;
    for (size_t i = 0; i < iolens_chains.called.nodes; i++)
        number[i] = NODE_OTHER;
    for (size_t i = 0; i < iolens_chains.called.nodes; i++) {
        const struct called *called = &iolens_chains.called.node[i];
        struct chain_node node;
        uint32_t object = CHAIN_NONE, found = CHAIN_NONE;
        if (called->known && called->object)
            object = add ? chain_object_add(table, called->object) : chain_object_find(table, called->object);
        if (describe(called, object, &node))
            found = add ? chain_node_add(table, index, &node) : chain_node_find(table, index, &node);
        if (found != CHAIN_NONE)
            number[i] = (int32_t)found;
    }
}

static uint32_t smallest(int64_t a, int64_t b, int64_t c)
{
    int64_t smaller = a < b ? a : b;
    return (uint32_t)(smaller < c ? smaller : c);
}

/* Makes the table of those nodes and objects of this rank that other ranks may have too, as far as there is
 * room. A rank without memory still takes part in merging the tables, because other ranks wait for its table.
 */
static void make_common(const struct chain_table *most)
{
    struct chain_table *table = chain_table_make(&iolens_chains.common, most->most_objects, most->most_nodes);
    struct chain_index index = {0};
    if (table && chain_index_open(&index, table, iolens_chains.called.nodes))
        number_by(table, &index, true);
    else
        iolens_chains.common.failed = true;
    chain_index_close(&index);
}

/* Collective. Merges the tables of all ranks; entries of lower ranks come first, in the order in which they
 * were made. If ranks cannot send messages, all tables must have the same size. If they can, all ranks must
 * call this function: a rank that skipped it for lack of memory would wait for a message that another rank
 * sends after that step. */
static int merge_common(const struct iolens_transport *transport, const struct chain_table *most)
{
    struct buffer *common = &iolens_chains.common;
    if (!transport->send && !common->failed)
        common->failed = transport->reduce_records(common->data, common->used, 1, chain_tables_combine) != 0;
    if (!common->failed)
        chain_table_trim(common);
    if (!transport->send)
        return common->failed ? -1 : 0;
    if (transport->barrier() != 0)
        return -1;
    merge_by_messages(transport, common, chain_tables_add, most);
    return 0;
}

/* Collective. Gives the table of rank 0 to all ranks. */
static int take_common(const struct iolens_transport *transport)
{
    struct buffer *common = &iolens_chains.common;
    uint64_t bytes = common->failed ? 0 : common->used;
    struct chain_index index = {0};
    if (transport->bcast(&bytes, sizeof bytes, 0) != 0 || bytes == 0)
        return -1;
    if (transport->rank > 0) {
        buffer_free(common);
        buffer_add(common, bytes);
    }
    if (common->failed || transport->bcast(common->data, bytes, 0) != 0 ||
        !chain_index_open(&index, table_in(common), table_in(common)->nodes))
        return -1;
    number_by(table_in(common), &index, false);
    chain_index_close(&index);
    return 0;
}

static bool is_own(size_t node)
{
    return iolens_chains.called.node[node].known && chain_number((uint32_t)node) == NODE_OTHER;
}

/* Returns how many of its `own` nodes this rank may number. All ranks must call this function, because it is
 * collective if there may be more nodes than the tables have rows. */
static int64_t room_for_own(const struct iolens_transport *transport, int64_t own,
                            const struct chains_of_all *all)
{
    int64_t of_all = own, room = all->most - chain_numbers_common()->nodes;
    if (all->nodes <= all->most)
        return own;
    iolens_chains.cut = transport->allreduce(&of_all, 1, IOLENS_INT64, IOLENS_SUM) != 0 || of_all > room;
    return iolens_chains.cut ? room / transport->size : own;
}

/* Numbers the nodes and objects that only this rank has, as far as there is room. A node is made after its
 * parent, so the nodes with the lowest numbers form whole chains. */
static void number_own(const struct iolens_transport *transport, const struct chains_of_all *all)
{
    const struct chain_table *common = chain_numbers_common();
    uint32_t most_objects = (uint32_t)iolens_chains.called.objects;
    struct chain_table *objects = chain_table_make(&iolens_chains.own, most_objects, 0);
    int32_t *number = (int32_t *)iolens_chains.numbers.data, next = (int32_t)common->nodes;
    int64_t own = 0;
    for (size_t i = 0; i < iolens_chains.called.nodes; i++)
        own += is_own(i);
    int64_t room = room_for_own(transport, own, all);
    for (size_t i = 0; i < iolens_chains.called.nodes && room > 0; i++) {
        const struct chain_object *object = iolens_chains.called.node[i].object;
        if (!is_own(i))
            continue;
        if (objects && object && chain_object_find(common, object) == CHAIN_NONE)
            chain_object_add(objects, object);
        number[i] = next++;
        room--;
    }
}

int chain_numbers_agree(const struct iolens_transport *transport, const struct chains_called *called,
                        const struct chains_of_all *all)
{
    chain_numbers_forget();
    if (buffer_add(&iolens_chains.numbers, (called->nodes + 1) * sizeof(int32_t)))
        iolens_chains.called = *called;
    const struct chain_table most = {.most_objects = smallest(COMMON_OBJECTS, all->most, all->objects),
                                     .most_nodes = smallest(COMMON_NODES, all->most, all->nodes)};
    make_common(&most);
    if (merge_common(transport, &most) != 0 || take_common(transport) != 0)
        return -1;
    number_own(transport, all);
    return 0;
}
