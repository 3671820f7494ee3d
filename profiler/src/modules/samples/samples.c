/* The table of call chains with the number of timer periods that each was sampled in. */
#include "../../callers/call_nodes.h"
#include "../../sampling/state.h"
#include "../../tables/table_merge.h"

enum { SEVERAL_NODES = -2, SEVERAL_THREADS = -1 };

struct row {
    int64_t rank, count;
    double on_core;
    int32_t thread, node;
    uint32_t region;
    uint8_t kind;
};

static const struct column COLUMNS[] = {
    MERGED(rank, "<i8", "rank", "the rank that was sampled; -1: several ranks", COLUMN_RANK),
    MERGED(thread, "<i4", "thread", "the thread, a number of `sampling`; -1: several threads", COLUMN_KEY),
    MERGED(region, "<u4", "region",
           "the innermost region of the thread, a row of `region_names`; 0: outside all regions, 4294967295: "
           "several regions",
           COLUMN_KEY),
    MERGED(node, "<i4", "node",
           "the innermost place of the call chain, a row of `call_nodes`; -1: not known, -2: several places",
           COLUMN_KEY),
    MERGED(kind, "<u1", "kind", "0: the thread was running; 1: it waited in a system call or for a core",
           COLUMN_KEY),
    MERGED(count, "<i8", "periods", "number of timer periods in which the thread was seen at this place",
           COLUMN_SUM),
    MERGED(on_core, "<f8", "s",
           "processor time of the thread since its sample before, in rows of kind 0. A sample in a "
           "wait adds none: the thread's next sample outside a wait adds it",
           COLUMN_SUM),
};

static bool is_sound(const void *key, const void *value)
{
    const struct sample_key *sample = key;
    const struct sample_count *count = value;
    return sample->blocked <= 1 && count->count >= 0 && count->on_core_ns >= 0;
}

/* Makes a row stand for all rows of its kind of sample for which the table has no room. */
static size_t rest(void *memory)
{
    struct row *row = memory;
    *row = (struct row){.rank = -1,
                        .count = row->count,
                        .on_core = row->on_core,
                        .thread = SEVERAL_THREADS,
                        .node = SEVERAL_NODES,
                        .region = UINT32_MAX,
                        .kind = row->kind};
    return row->kind;
}

static void collect(const struct iolens_transport *transport, struct buffer *rows)
{
    const struct keyed *samples = table_state_known(TABLE_samples);
    for (struct keyed_row *found = samples ? keyed_first(samples) : NULL; found; found = keyed_next(found)) {
        const struct sample_key *key = keyed_key(found);
        const struct sample_count *value = keyed_value(found, &sample_shape);
        struct row row = {.rank = transport->rank,
                          .count = value->count,
                          .on_core = 1e-9 * (double)value->on_core_ns,
                          .thread = (int32_t)key->thread,
                          .node = call_node_written(key->node),
                          .region = key->region,
                          .kind = key->blocked != 0};
        buffer_put(rows, &row, sizeof row);
    }
    table_fold(process_tables[TABLE_samples], rows);
}

const struct process_table table_samples = {
    .name = "samples",
    .meaning = "Number of timer periods in which a thread was seen in a call chain (IOLENS_SAMPLE). A thread "
               "that cannot be interrupted for some periods is seen once, and counted for all of them",
    TABLE_ROWS(COLUMNS),
    .recording.state_bytes = sizeof(struct keyed),
    .recording.keyed = &sample_shape,
    .recording.sound = is_sound,
    .merging.collect = collect,
    .merging.weighed_by = {"count"},
    .merging.rest = rest,
    .merging.rest_slots = 2,
};
