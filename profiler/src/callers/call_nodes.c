#include "call_nodes.h"

#include <stdio.h>
#include <stdlib.h>

#include "../runtime/context.h"
#include "../tables/keyed.h"
#include "../tables/process_table.h"

enum { DEFAULT_NODES = 65536, LACKING_BYTES = 320 };

struct key {
    uint64_t address;
    uint32_t parent, leaf_and_era;
};

/* The state of the table `call_nodes`. */
struct state {
    /* Must be the first member, because validation of a state from a spool looks only at the nodes. */
    struct keyed nodes;
    _Atomic int64_t crowded; /* Number of calls for which there was no room for a new node. */
};

struct row {
    int64_t rank;
    uint64_t offset;
    int32_t node, parent, object;
    uint8_t leaf;
};

static const struct column COLUMNS[] = {
    COLUMN(rank, "<i8", "rank",
           "-1: the number means the same place in the call tree on all ranks; else the only rank that uses "
           "the number"),
    COLUMN(node, "<i4", "node", "number of the node"),
    COLUMN(parent, "<i4", "node",
           "node of the caller; -1: this node has no caller, -2: the caller is not known"),
    COLUMN(object, "<i4", "object",
           "the program or library that holds the address, a row of `objects`; -1: not known"),
    COLUMN(offset, "<u8", "address",
           "virtual address in the object's file; the address in memory where the object is not known"),
    COLUMN(leaf, "<u1", "truth",
           "1: the address is that of the executed instruction; 0: it is the return address of a call"),
};

static struct keyed_shape shape = {
    .key_bytes = sizeof(struct key), .most = DEFAULT_NODES, .in_handlers = true};

/* Sums over all ranks: the nodes of call chains, and the ranks that had no room for all of their nodes. */
enum { NODES, CROWDED_RANKS, SUMS };

static int64_t iolens_node_sums[SUMS];
static char iolens_nodes_lacking[LACKING_BYTES];
static struct buffer iolens_own_nodes; /* This rank's nodes in the order of their numbers. */

static void start(void)
{
    int64_t most = (int64_t)shape.most;
    if (!settings_number(iolens.settings.call_nodes, 1, INT32_MAX - 1, &most))
        iolens_say("IOLENS_CALL_NODES=%s is not a positive number, so the default %d is used",
                   iolens.settings.call_nodes, DEFAULT_NODES);
    shape.most = (uint64_t)most;
}

uint32_t call_node(uint32_t parent, uintptr_t address, bool leaf)
{
    struct state *state = table_state(TABLE_call_nodes);
    const struct key key = {
        .address = address, .parent = parent, .leaf_and_era = 2 * object_era(address) + leaf};
    const struct keyed_row *row = state ? keyed_find(&state->nodes, &shape, &key) : NULL;
    if (state && !row)
        state->crowded++;
    return row ? (uint32_t)row->index : CALL_NODE_OTHER;
}

int32_t call_node_written(uint32_t node) { return chain_number(node); }

static void count(int rank)
{
    const struct state *state = table_state_known(TABLE_call_nodes);
    (void)rank;
    iolens_node_sums[NODES] = state ? keyed_made(&state->nodes) : 0;
    iolens_node_sums[CROWDED_RANKS] = state && state->crowded > 0;
}

static size_t called_count(void) { return iolens_own_nodes.used / sizeof(struct called); }

static struct called *called_first(void) { return (struct called *)iolens_own_nodes.data; }

/* Puts the addresses of all nodes of this rank into an array in the order in which they were made; the store
 * lists the newest first. */
static void list_called(void)
{
    const struct state *state = table_state_known(TABLE_call_nodes);
    const struct keyed *nodes = state ? &state->nodes : NULL;
    size_t made = (size_t)keyed_made(nodes);
    buffer_free(&iolens_own_nodes);
    if (!buffer_add(&iolens_own_nodes, made * sizeof(struct called)))
        return;
    for (const struct keyed_row *node = nodes ? keyed_first(nodes) : NULL; node; node = keyed_next(node)) {
        const struct key *key = keyed_key(node);
        struct code_place place = object_place(key->address, key->leaf_and_era / 2);
        if (node->index < made)
            called_first()[node->index] = (struct called){.address = key->address,
                                                          .offset = place.offset,
                                                          .object = place.object,
                                                          .parent = key->parent,
                                                          .leaf = key->leaf_and_era % 2 != 0,
                                                          .known = true};
    }
}

void call_nodes_of_no_object(void (*see)(uint64_t address, bool leaf, void *context), void *context)
{
    for (size_t i = 0; i < called_count(); i++)
        if (!called_first()[i].object && call_node_written((uint32_t)i) >= 0)
            see(called_first()[i].address, called_first()[i].leaf, context);
}

static void put_common(struct buffer *rows, const struct chain_table *common)
{
    for (uint32_t i = 0; i < common->nodes; i++) {
        const struct chain_node *node = &chain_nodes(common)[i];
        struct row row = {.rank = -1,
                          .node = (int32_t)i,
                          .parent = node->parent == CHAIN_NONE ? NODE_NONE : (int32_t)node->parent,
                          .object = (int32_t)(node->object_and_leaf / 2),
                          .offset = node->offset,
                          .leaf = node->object_and_leaf % 2};
        buffer_put(rows, &row, sizeof row);
    }
}

static void put_own(struct buffer *rows, uint32_t node, int rank)
{
    const struct called *called = &called_first()[node];
    struct row row = {.rank = rank,
                      .node = call_node_written(node),
                      .parent = call_node_written(called->parent),
                      .object = called->object ? chain_object_number(called->object) : -1,
                      .offset = called->offset,
                      .leaf = called->leaf};
    if (called->known && row.node >= (int32_t)chain_numbers_common()->nodes)
        buffer_put(rows, &row, sizeof row);
}

static void collect(const struct iolens_transport *transport, struct buffer *rows)
{
    list_called();
    const struct chains_called called = {called_first(), called_count(), (size_t)objects_known()};
    const struct chains_of_all all = {tables_most_rows(false), iolens_node_sums[NODES], objects_of_all()};
    int result = chain_numbers_agree(transport, &called, &all);
    rows->failed |= iolens_own_nodes.failed || result != 0;
    if (result == 0 && transport->rank == 0)
        put_common(rows, chain_numbers_common());
    for (size_t i = 0; result == 0 && i < called_count(); i++)
        put_own(rows, (uint32_t)i, transport->rank);
}

static void reset(void)
{
    buffer_free(&iolens_own_nodes);
    chain_numbers_forget();
}

/* Returns a sentence about the call chains that are missing in this process, in all processes together, or in
 * both; NULL if none is missing. */
static const char *left_out(void)
{
    char *at = iolens_nodes_lacking, *end = at + LACKING_BYTES;
    *at = '\0';
    if (iolens_node_sums[CROWDED_RANKS] > 0)
        at += snprintf(at, (size_t)(end - at),
                       "On %lld rank(s) the program called from more places than the profiler has room for; "
                       "later places share one entry. Raise IOLENS_CALL_NODES.%s",
                       (long long)iolens_node_sums[CROWDED_RANKS], chain_numbers_cut() ? " " : "");
    if (chain_numbers_cut())
        snprintf(at, (size_t)(end - at),
                 "The ranks have more different call chains than the table `call_nodes` has rows, so some "
                 "are missing. Raise IOLENS_FILE_RANKS.");
    return *iolens_nodes_lacking ? iolens_nodes_lacking : NULL;
}

const struct process_table table_call_nodes = {
    .name = "call_nodes",
    .meaning =
        "A place in a call chain of MPI calls, I/O calls or samples. Other tables name the innermost node of "
        "a chain; `parent` leads from there to the outermost caller. Nodes that ranks share are numbered "
        "once, from 0 on, with rank -1; a rank's own nodes have higher numbers. To find a rank's node, look "
        "for its number with this rank, then with rank -1. The table `objects` is numbered in the same way",
    TABLE_ROWS(COLUMNS),
    .recording.state_bytes = sizeof(struct state),
    .recording.keyed = &shape,
    .recording.start = start,
    .recording.reset = reset,
    .merging.on_demand = true,
    .merging.count = count,
    .merging.sums = iolens_node_sums,
    .merging.sum_count = SUMS,
    .merging.collect = collect,
    .remarks.left_out = left_out,
};
