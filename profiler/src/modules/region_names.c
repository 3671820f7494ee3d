#include "region_names.h"

#include "../runtime/context.h"
#include "../system/hash.h"
#include "../tables/keyed.h"
#include "../tables/process_table.h"

struct key {
    int64_t id;
    uint64_t parent;
    char label[REGION_LABEL_BYTES];
};

static const struct keyed_shape SHAPE = {
    .key_bytes = sizeof(struct key), .value_bytes = sizeof(uint64_t), .most = REGION_NAMES_MOST};

/* Returns the value of a row: the region's number; 0 while the row is being made. */
static _Atomic(uint64_t) *number_of(struct keyed_row *row) { return keyed_value(row, &SHAPE); }

static bool is_taken(const struct keyed *names, const struct keyed_row *own, uint32_t number)
{
    if (number == REGION_NONE || number >= REGION_OTHER)
        return true;
    for (struct keyed_row *row = keyed_first(names); row; row = keyed_next(row))
        if (row != own && *number_of(row) == number)
            return true;
    return false;
}

uint32_t region_number(uint32_t parent, int64_t id, const char *label)
{
    struct key key = {.id = id, .parent = parent};
    if (label)
        strncpy(key.label, label, sizeof key.label - 1);
    struct keyed *names = table_state(TABLE_region_names);
    struct keyed_row *row = names ? keyed_find(names, &SHAPE, &key) : NULL;
    if (!row)
        return REGION_OTHER;
    uint32_t number = (uint32_t)*number_of(row);
    if (number)
        return number;
    number = (uint32_t)record_id((const char *)&key, sizeof key);
    while (is_taken(names, row, number))
        number++;
    *number_of(row) = number;
    return number;
}

struct row {
    int64_t rank, id;
    uint32_t region, parent;
    char label[REGION_LABEL_BYTES];
};

static const struct column COLUMNS[] = {
    COLUMN(rank, "<i8", "rank",
           "the rank with the region; a rank with exactly the regions of rank 0 has no rows"),
    COLUMN(region, "<u4", "region",
           "number of the region, by which other tables name it; the same on all ranks"),
    COLUMN(parent, "<u4", "region", "the region inside which it began; 0: outside all regions"),
    COLUMN(id, "<i8", "", "number that the program gave the region"),
    TEXT(label, "S64", "label that the program gave the region", TEXT_WORD),
};

/* Returns a checksum of the regions of this rank, whatever their order. */
static uint64_t own_sum(void)
{
    const struct keyed *names = table_state_known(TABLE_region_names);
    uint64_t sum = 0;
    for (struct keyed_row *name = names ? keyed_first(names) : NULL; name; name = keyed_next(name))
        sum += (uint32_t)*number_of(name) * UINT64_C(0x9e3779b97f4a7c15);
    return sum;
}

/* Checksum of rank 0's regions, with which each other rank compares its own. */
static int64_t sum_of_first;

static void count(int rank) { sum_of_first = rank == 0 ? (int64_t)own_sum() : 0; }

static void collect(const struct iolens_transport *transport, struct buffer *rows)
{
    struct keyed *names = table_state_known(TABLE_region_names);
    for (struct keyed_row *name = names ? keyed_first(names) : NULL; name; name = keyed_next(name)) {
        const struct key *key = keyed_key(name);
        struct row row = {.rank = transport->rank,
                          .id = key->id,
                          .region = (uint32_t)*number_of(name),
                          .parent = (uint32_t)key->parent};
        memcpy(row.label, key->label, sizeof row.label);
        buffer_put(rows, &row, sizeof row);
    }
    if (transport->rank > 0 && sum_of_first == (int64_t)own_sum())
        rows->used = 0;
}

const struct process_table table_region_names = {
    .name = "region_names",
    .meaning = "A region that the program marked, alone or inside another region",
    TABLE_ROWS(COLUMNS),
    .recording.state_bytes = sizeof(struct keyed),
    .recording.keyed = &SHAPE,
    .merging.on_demand = true,
    .merging.count = count,
    .merging.sums = &sum_of_first,
    .merging.sum_count = 1,
    .merging.collect = collect,
};
