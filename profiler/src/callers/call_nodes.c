#include "call_nodes.h"

#include <errno.h>
#include <stdlib.h>

#include "../runtime/context.h"
#include "../tables/keyed.h"
#include "../tables/process_table.h"
#include "objects.h"

enum { DEFAULT_NODES = 65536, WRITTEN_NONE = -1, WRITTEN_OTHER = -2 };

struct key {
    uint64_t address;
    uint32_t parent, leaf;
};

struct row {
    int64_t rank;
    uint64_t offset;
    int32_t node, parent, object;
    uint8_t leaf;
};

static const struct column COLUMNS[] = {
    COLUMN(rank, "<i8", "rank", "the rank whose call chains these are"),
    COLUMN(node, "<i4", "node", "number of the node on this rank"),
    COLUMN(parent, "<i4", "node", "the node that called it; -1: none, -2: it is not known"),
    COLUMN(object, "<i4", "object", "where the address lies, a row of `objects`; -1: not known"),
    COLUMN(offset, "<u8", "address",
           "address in the object's file (its virtual address there); the address itself where the object is "
           "not known"),
    COLUMN(leaf, "<u1", "truth",
           "1: the instruction that was being executed; 0: the instruction behind a call"),
};

static struct keyed_shape shape = {
    .key_bytes = sizeof(struct key), .most = DEFAULT_NODES, .in_handlers = true};

/* Nodes from this number on are not in the log. */
static uint64_t iolens_nodes_written;
static int64_t iolens_nodes_of_all;

static void start(void)
{
    char *end;
    errno = 0;
    long long most = strtoll(iolens.settings.call_nodes, &end, 10);
    if (most > 0 && most < INT32_MAX && errno == 0 && *end == '\0')
        shape.most = (uint64_t)most;
    else
        iolens_say("IOLENS_CALL_NODES=%s is not a positive number of nodes; %d is used",
                   iolens.settings.call_nodes, DEFAULT_NODES);
}

uint32_t call_node(uint32_t parent, uintptr_t address, bool leaf)
{
    struct keyed *nodes = table_state(TABLE_call_nodes);
    const struct key key = {.address = address, .parent = parent, .leaf = leaf};
    const struct keyed_row *row = nodes ? keyed_find(nodes, &shape, &key) : NULL;
    return row ? (uint32_t)row->index : CALL_NODE_OTHER;
}

int32_t call_node_written(uint32_t node)
{
    if (node == CALL_NODE_NONE)
        return WRITTEN_NONE;
    return node < iolens_nodes_written ? (int32_t)node : WRITTEN_OTHER;
}

static void count(int rank)
{
    (void)rank;
    iolens_nodes_of_all = keyed_made(table_state_known(TABLE_call_nodes));
}

static bool are_too_many(void) { return iolens_nodes_of_all > tables_most_rows(false); }

/* A node is made behind its parent, so that those with the lowest numbers are whole chains. */
static uint64_t written_of(uint64_t made, int ranks)
{
    uint64_t share = (uint64_t)(tables_most_rows(false) / ranks);
    return !are_too_many() || made <= share ? made : share;
}

static void put_row(struct buffer *rows, const struct keyed_row *node, int rank)
{
    const struct key *key = keyed_key(node);
    struct place place = object_place(key->address);
    struct row row = {.rank = rank,
                      .node = (int32_t)node->index,
                      .parent = call_node_written(key->parent),
                      .object = place.object,
                      .offset = place.offset,
                      .leaf = key->leaf != 0};
    buffer_put(rows, &row, sizeof row);
}

void call_nodes_each(void (*see)(uint64_t address, bool leaf, void *context), void *context)
{
    const struct keyed *nodes = table_state_known(TABLE_call_nodes);
    for (const struct keyed_row *node = nodes ? keyed_first(nodes) : NULL; node; node = keyed_next(node)) {
        const struct key *key = keyed_key(node);
        if (node->index < iolens_nodes_written)
            see(key->address, key->leaf != 0, context);
    }
}

static void collect(const struct iolens_transport *transport, struct buffer *rows)
{
    const struct keyed *nodes = table_state_known(TABLE_call_nodes);
    iolens_nodes_written = written_of(nodes ? nodes->made : 0, transport->size);
    for (const struct keyed_row *node = nodes ? keyed_first(nodes) : NULL; node; node = keyed_next(node))
        if (node->index < iolens_nodes_written)
            put_row(rows, node, transport->rank);
}

static const char *left_out(void)
{
    return are_too_many() ? "There are more call chains on all ranks together than the table of them has "
                            "rows for; it leaves some out. Raise IOLENS_FILE_RANKS."
                          : NULL;
}

const struct process_table table_call_nodes = {
    .name = "call_nodes",
    .meaning =
        "A place in a call chain: of MPI calls, of I/O calls, of samples. A chain is followed by `parent`, "
        "from the inside to the outside. Other tables name the node where a chain begins",
    TABLE_ROWS(COLUMNS),
    .state_bytes = sizeof(struct keyed),
    .keyed = &shape,
    .start = start,
    .on_demand = true,
    .state_of = TABLE_call_nodes,
    .count = count,
    .sums = &iolens_nodes_of_all,
    .sum_count = 1,
    .collect = collect,
    .left_out = left_out,
};
