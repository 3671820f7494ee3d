/* The table `memory_nodes`: the memory of each process by NUMA node, on machines that have several. */
#include "../runtime/context.h"
#include "../system/numa_maps.h"
#include "../system/system_call.h"
#include "../tables/keyed.h"
#include "../tables/table_merge.h"

enum { NODE_LIST_BYTES = 64, ANY_NODE = -1 };

/* Each measurement makes the kernel walk all pages of the process, so the time between measurements grows
 * with their duration. A process that ends within LEAST_SECONDS is not measured at all. */
#define LEAST_SECONDS         0.5
#define SECONDS_BETWEEN_LOOKS 1.0
#define LOOK_SHARE            1e-3

struct amounts {
    int64_t bytes,
        high_bytes; /* Bytes on a node when last measured, and the largest number measured so far. */
};

static const struct keyed_shape SHAPE = {
    .key_bytes = sizeof(uint64_t), .value_bytes = sizeof(struct amounts), .most = MEMORY_NODES};

static struct {
    atomic_flag looking;
    bool asked, several; /* True once the machine was examined, and if it has several nodes with memory. */
    _Atomic double next; /* Time of the next measurement. */
    int64_t bytes[MEMORY_NODES];
} iolens_memory_nodes;

static bool are_several(void)
{
    char nodes[NODE_LIST_BYTES];
    if (!iolens_memory_nodes.asked) {
        slurp("/sys/devices/system/node/has_memory", nodes, sizeof nodes);
        iolens_memory_nodes.several =
            strpbrk(nodes, "-,") != NULL; /* A list of several nodes reads like 0-1 or 0,8. */
        iolens_memory_nodes.asked = true;
    }
    return iolens_memory_nodes.several;
}

static void keep(struct keyed *store)
{
    for (struct keyed_row *row = keyed_first(store); row; row = keyed_next(row))
        ((struct amounts *)keyed_value(row, &SHAPE))->bytes = 0;
    for (uint64_t node = 0; node < MEMORY_NODES; node++) {
        int64_t bytes = iolens_memory_nodes.bytes[node];
        struct keyed_row *row = bytes > 0 ? keyed_find(store, &SHAPE, &node) : NULL;
        if (!row)
            continue;
        struct amounts *amounts = keyed_value(row, &SHAPE);
        amounts->bytes = bytes;
        amounts->high_bytes = bytes > amounts->high_bytes ? bytes : amounts->high_bytes;
    }
}

static void look(void *state)
{
    if (atomic_flag_test_and_set(&iolens_memory_nodes.looking))
        return;
    double begin = clock_now(&iolens.clock);
    if (begin >= LEAST_SECONDS && are_several() &&
        numa_maps_read("/proc/self/numa_maps", iolens_memory_nodes.bytes))
        keep(state);
    double end = clock_now(&iolens.clock), wait = (end - begin) / LOOK_SHARE;
    iolens_memory_nodes.next = end + (wait > SECONDS_BETWEEN_LOOKS ? wait : SECONDS_BETWEEN_LOOKS);
    atomic_flag_clear(&iolens_memory_nodes.looking);
}

static void beat(void *state)
{
    if (clock_now(&iolens.clock) >= iolens_memory_nodes.next)
        look(state);
}

static void end(void)
{
    void *state = clock_now(&iolens.clock) >= LEAST_SECONDS ? table_state(TABLE_memory_nodes) : NULL;
    if (state)
        look(state);
}

/* Lets a child of fork be measured at once, because its memory is not its parent's. */
static void reset(void)
{
    atomic_flag_clear(&iolens_memory_nodes.looking);
    iolens_memory_nodes.next = 0;
}

struct row {
    int64_t rank;
    int32_t memory_node, padding;
    int64_t high_bytes, bytes;
};

static const struct column COLUMNS[] = {
    MERGED(rank, "<i8", "rank", "the rank; -1: several ranks", COLUMN_RANK),
    MERGED(memory_node, "<i4", "node", "number of the NUMA node on its machine; -1: several nodes",
           COLUMN_KEY),
    MERGED(high_bytes, "<i8", "B",
           "largest number of bytes that were resident on the node. The profiler reads this number in "
           "calls on files or of MPI, at most once a second, and when recording ends",
           COLUMN_SUM),
    MERGED(bytes, "<i8", "B", "resident bytes when the profiler last read the number", COLUMN_SUM),
};

static bool is_sound(const void *key, const void *value)
{
    const struct amounts *amounts = value;
    return *(const uint64_t *)key < MEMORY_NODES && amounts->bytes >= 0 &&
           amounts->high_bytes >= amounts->bytes;
}

static void collect(const struct iolens_transport *transport, struct buffer *rows)
{
    const struct keyed *store = table_state_known(TABLE_memory_nodes);
    for (struct keyed_row *from = store ? keyed_first(store) : NULL; from; from = keyed_next(from)) {
        const struct amounts *amounts = keyed_value(from, &SHAPE);
        const struct row row = {.rank = transport->rank,
                                .memory_node = (int32_t) * (const uint64_t *)keyed_key(from),
                                .high_bytes = amounts->high_bytes,
                                .bytes = amounts->bytes};
        buffer_put(rows, &row, sizeof row);
    }
}

static size_t rest(void *row)
{
    ((struct row *)row)->rank = -1;
    ((struct row *)row)->memory_node = ANY_NODE;
    return 0;
}

const struct process_table table_memory_nodes = {
    .name = "memory_nodes",
    .meaning =
        "Resident memory of a rank by NUMA node, shared libraries included, on a machine where several "
        "nodes have memory. A process of less than half a second has no row",
    TABLE_ROWS(COLUMNS),
    .recording.state_bytes = sizeof(struct keyed),
    .recording.keyed = &SHAPE,
    .recording.sound = is_sound,
    .recording.end = end,
    .recording.reset = reset,
    .recording.beat = beat,
    .merging.collect = collect,
    .merging.weighed_by = {"high_bytes"},
    .merging.rest = rest,
    .merging.rest_slots = 1,
};
