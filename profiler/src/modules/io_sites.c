/* The table of places from which the program calls I/O functions; recorded on request (IOLENS_IO_CALLERS). */
#include "../callers/call_nodes.h"
#include "../runtime/context.h"
#include "../tables/keyed.h"
#include "../tables/table_merge.h"
#include "io_watch.h"

enum { MODULE_BYTES = 16, FUNCTION_BYTES = 48, KEY_NAME_BYTES = 32, MOST_ROWS = 65536, SEVERAL_NODES = -2 };

#define NS_PER_SECOND 1e9

struct key {
    char module[8], function[KEY_NAME_BYTES];
    uint64_t file;
    uint32_t region, node;
};

struct value {
    _Atomic int64_t calls, bytes, ns;
};

struct row {
    int64_t rank;
    char module[MODULE_BYTES], function[FUNCTION_BYTES];
    uint64_t file;
    uint32_t region;
    int32_t node;
    int64_t calls;
    double time;
    int64_t bytes;
};

static const struct column COLUMNS[] = {
    MERGED(rank, "<i8", "rank", "the rank that called; -1: several ranks", COLUMN_RANK),
    {"module", "S16", "", "POSIX or STDIO; empty: several", offsetof(struct row, module), MODULE_BYTES,
     COLUMN_KEY, TEXT_WORD},
    {"function", "S48", "", "the function that was called; empty: several functions",
     offsetof(struct row, function), FUNCTION_BYTES, COLUMN_KEY, TEXT_WORD},
    MERGED(file, "<u8", "record", "record id of the file; 0: several files", COLUMN_KEY),
    MERGED(region, "<u4", "region",
           "the region, a row of `region_names`; 0: outside all regions, 4294967295: several regions",
           COLUMN_KEY),
    MERGED(node, "<i4", "node", "the place of the call, a row of `call_nodes`; -2: several places",
           COLUMN_KEY),
    MERGED(calls, "<i8", "calls", "", COLUMN_SUM),
    MERGED(time, "<f8", "s", "time in these calls, summed over all threads", COLUMN_SUM),
    MERGED(bytes, "<i8", "B", "bytes that the calls moved", COLUMN_SUM),
};

static const struct key other_key = {.region = UINT32_MAX, .node = CALL_NODE_OTHER};

static const struct keyed_shape shape = {.key_bytes = sizeof(struct key),
                                         .value_bytes = sizeof(struct value),
                                         .most = MOST_ROWS,
                                         .other = &other_key};

/* Number of nearest callers by which places are distinguished; 0: the table is off. */
static int iolens_io_callers;

static void count_site(const struct call *c, const char *module, uint64_t id, int64_t bytes)
{
    struct keyed *sites = table_state(TABLE_io_sites);
    struct key key = {.file = id, .region = iolens_region};
    uintptr_t caller = (uintptr_t)c->caller;
    if (!sites || !c->function)
        return;
    strncpy(key.module, module, sizeof key.module);
    strncpy(key.function, c->function, sizeof key.function);
    key.node = chain_node(caller, iolens_io_callers);
    struct keyed_row *row = keyed_find(sites, &shape, &key);
    if (!row)
        return;
    struct value *value = keyed_value(row, &shape);
    value->calls++;
    value->bytes += bytes;
    value->ns += clock_ns_of(c->t1 - c->t0);
}

static void start(void)
{
    int64_t callers = iolens_io_callers;
    if (!settings_number(iolens.settings.io_callers, 0, CHAIN_MOST, &callers))
        iolens_say("IOLENS_IO_CALLERS=%s is not a depth of call chains from 0 to %d, so no callers of I/O "
                   "functions are recorded",
                   iolens.settings.io_callers, CHAIN_MOST);
    iolens_io_callers = (int)callers;
    io_watch(IO_WATCHER_SITES, iolens_io_callers > 0 ? count_site : NULL);
    if (iolens_io_callers > 1)
        chains_start();
}

static bool is_sound(const void *key, const void *memory)
{
    const struct value *value = memory;
    (void)key;
    return value->calls >= 0 && value->ns >= 0;
}

static size_t rest(void *memory)
{
    struct row *row = memory;
    *row = (struct row){.rank = -1,
                        .region = UINT32_MAX,
                        .node = SEVERAL_NODES,
                        .calls = row->calls,
                        .time = row->time,
                        .bytes = row->bytes};
    return 0;
}

static void collect(const struct iolens_transport *transport, struct buffer *rows)
{
    const struct keyed *sites = table_state_known(TABLE_io_sites);
    for (struct keyed_row *found = sites ? keyed_first(sites) : NULL; found; found = keyed_next(found)) {
        const struct key *key = keyed_key(found);
        const struct value *value = keyed_value(found, &shape);
        struct row row = {.rank = transport->rank,
                          .file = key->file,
                          .region = key->region,
                          .node = call_node_written(key->node),
                          .calls = value->calls,
                          .time = (double)value->ns / NS_PER_SECOND * iolens.timeline.factor,
                          .bytes = value->bytes};
        memcpy(row.module, key->module, sizeof key->module);
        memcpy(row.function, key->function, sizeof key->function);
        buffer_put(rows, &row, sizeof row);
    }
    table_fold(process_tables[TABLE_io_sites], rows);
}

const struct process_table table_io_sites = {
    .name = "io_sites",
    .meaning =
        "A place that called an I/O function for a file, with calls, time and bytes (IOLENS_IO_CALLERS)",
    TABLE_ROWS(COLUMNS),
    .recording.state_bytes = sizeof(struct keyed),
    .recording.start = start,
    .recording.keyed = &shape,
    .recording.sound = is_sound,
    .merging.collect = collect,
    .merging.weighed_by = {"time"},
    .merging.rest = rest,
    .merging.rest_slots = 1,
};
