#include "table_merge.h"

#include <string.h>

#include "../adapter.h"
#include "../memory/buffer.h"

/* Chooses the ranks with the largest values without sending every rank's values to all others. */

enum { CLASSES = 65 };

/* Returns the class of a weight: 0 for 0, else 1 + the exponent of the largest power of two that does not
 * exceed it. */
static int class_of(int64_t weight) { return weight > 0 ? 64 - __builtin_clzll((uint64_t)weight) : 0; }

/* Returns the class at which the places run out. All ranks of higher classes are chosen, and of this class
 * only as many as the number that this function stores in `room`. */
static int last_class(const int64_t *ranks, int64_t most, int64_t *room)
{
    int class = CLASSES - 1;
    for (*room = most; class > 0 && ranks[class] <= *room; class --)
        *room -= ranks[class];
    return class;
}

/* Collective. For each of `count` items, sets chosen[i] on the `most` ranks with the largest weight[i] (>=
 * 0). Weights between the same powers of two count as equal, and among equals lower ranks are chosen first.
 * Sends 65 numbers per item in one call, and one in another. Returns 0, or -1. */
static int top_ranks_choose(const struct iolens_transport *transport, const int64_t *weight, size_t count,
                            int64_t most, bool *chosen)
{
    struct buffer histogram = {0}, scan = {0};
    int64_t *ranks = buffer_add(&histogram, (count * CLASSES + 1) * sizeof *ranks), room;
    uint64_t *before = buffer_add(&scan, (count + 1) * sizeof *before);
    int result = ranks && before ? 0 : -1;
    for (size_t i = 0; result == 0 && i < count; i++)
        ranks[i * CLASSES + (size_t)class_of(weight[i])] = 1;
    if (result == 0)
        result = transport->allreduce(ranks, count * CLASSES, IOLENS_INT64, IOLENS_SUM);
    for (size_t i = 0; result == 0 && i < count; i++)
        before[i] = class_of(weight[i]) == last_class(ranks + i * CLASSES, most, &room);
    if (result == 0)
        result = transport->exscan_sum(before, count);
    for (size_t i = 0; result == 0 && i < count; i++) {
        int last = last_class(ranks + i * CLASSES, most, &room), own = class_of(weight[i]);
        chosen[i] = own > last || (own == last && (int64_t)before[i] < room);
    }
    buffer_free(&histogram);
    buffer_free(&scan);
    return result;
}

/* Collective. Each rank has `count` rows that other ranks do not have. Chooses the `most` rows of largest
 * weight over all ranks, by the rule of top_ranks_choose. Returns 0, or -1. */
static int top_rows_choose(const struct iolens_transport *transport, const int64_t *weight, size_t count,
                           int64_t most, bool *chosen)
{
    int64_t rows[CLASSES] = {0}, room;
    for (size_t i = 0; i < count; i++)
        rows[class_of(weight[i])]++;
    int64_t own[CLASSES];
    memcpy(own, rows, sizeof own);
    if (transport->allreduce(rows, CLASSES, IOLENS_INT64, IOLENS_SUM) != 0)
        return -1;
    int last = last_class(rows, most, &room);
    uint64_t before = (uint64_t)own[last];
    if (transport->exscan_sum(&before, 1) != 0)
        return -1;
    for (size_t i = 0; i < count; i++) {
        int class = class_of(weight[i]);
        chosen[i] = class > last || (class == last && (int64_t)before++ < room);
    }
    return 0;
}

static int64_t merged_int(enum column_merge how, int64_t from, int64_t to)
{
    switch (how) {
    case COLUMN_SUM:
        return from + to;
    case COLUMN_LARGEST:
        return from > to ? from : to;
    case COLUMN_SMALLEST:
        return from < to ? from : to;
    default:
        return to;
    }
}

static double merged_double(enum column_merge how, double from, double to)
{
    switch (how) {
    case COLUMN_SUM:
        return from + to;
    case COLUMN_LARGEST:
        return from > to ? from : to;
    case COLUMN_SMALLEST:
        return from < to ? from : to;
    case COLUMN_EARLIEST:
        return from == 0 || (to != 0 && to < from) ? to : from;
    default:
        return to;
    }
}

static void merge_column(const struct column *column, const char *from, char *to)
{
    if (strcmp(column->dtype, "<f8") == 0) {
        double pair[2];
        memcpy(&pair[0], from, sizeof(double));
        memcpy(&pair[1], to, sizeof(double));
        pair[1] = merged_double(column->merge, pair[0], pair[1]);
        memcpy(to, &pair[1], sizeof(double));
    } else if (strcmp(column->dtype, "<i8") == 0) {
        int64_t pair[2];
        memcpy(&pair[0], from, sizeof(int64_t));
        memcpy(&pair[1], to, sizeof(int64_t));
        pair[1] = merged_int(column->merge, pair[0], pair[1]);
        memcpy(to, &pair[1], sizeof(int64_t));
    }
}

void table_merge_row(const struct process_table *type, const void *from, void *to)
{
    for (size_t i = 0; i < type->column_count; i++)
        merge_column(&type->columns[i], (const char *)from + type->columns[i].offset,
                     (char *)to + type->columns[i].offset);
}

static bool same_key(const struct process_table *type, const char *a, const char *b)
{
    for (size_t i = 0; i < type->column_count; i++) {
        const struct column *column = &type->columns[i];
        if (column->merge == COLUMN_KEY && memcmp(a + column->offset, b + column->offset, column->bytes) != 0)
            return false;
    }
    return true;
}

/* Returns the hash of a row's key columns, by FNV-1a. */
static uint64_t key_hash(const struct process_table *type, const char *row)
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    for (size_t i = 0; i < type->column_count; i++)
        for (size_t at = 0; type->columns[i].merge == COLUMN_KEY && at < type->columns[i].bytes; at++)
            hash = (hash ^ (unsigned char)row[type->columns[i].offset + at]) * UINT64_C(0x100000001b3);
    return hash ^ hash >> 32;
}

void table_fold(const struct process_table *type, struct buffer *rows)
{
    size_t count = rows->used / type->row_bytes, slots = 2, kept = 0;
    struct buffer table = {0};
    while (slots < 2 * count)
        slots *= 2;
    /* Each slot has 1 + the number of a row; 0 if it is free. */
    size_t *slot = buffer_add(&table, slots * sizeof *slot);
    rows->failed |= !slot;
    for (size_t i = 0; slot && i < count; i++) {
        char *row = rows->data + i * type->row_bytes;
        size_t at = key_hash(type, row) & (slots - 1);
        while (slot[at] && !same_key(type, rows->data + (slot[at] - 1) * type->row_bytes, row))
            at = (at + 1) & (slots - 1);
        if (slot[at]) {
            table_merge_row(type, row, rows->data + (slot[at] - 1) * type->row_bytes);
        } else {
            memmove(rows->data + kept * type->row_bytes, row, type->row_bytes);
            slot[at] = ++kept;
        }
    }
    if (slot)
        rows->used = kept * type->row_bytes;
    buffer_free(&table);
}

void table_combine(const void *in, void *inout)
{
    const struct staged_row *from = in;
    struct staged_row *to = inout;
    const struct process_table *type = process_tables[from->table];
    if (from->rows > 0 && to->rows == 0)
        memcpy(to->row, from->row, type->row_bytes);
    else if (from->rows > 0)
        table_merge_row(type, from->row, to->row);
    to->rows += from->rows;
}

/* Keeps the chosen rows, and merges each other row into its slot. */
static void stage_rest(const struct process_table *type, const bool *chosen, char *stage, struct buffer *rows)
{
    size_t bytes = type->row_bytes, stride = sizeof(struct staged_row) + bytes, count = rows->used / bytes;
    rows->used = 0;
    for (size_t i = 0; i < count; i++) {
        char *row = rows->data + i * bytes;
        if (chosen[i]) {
            memmove(rows->data + rows->used, row, bytes);
            rows->used += bytes;
            continue;
        }
        struct staged_row *slot = (struct staged_row *)(stage + type->merging.rest(row) * stride);
        if (slot->rows++ == 0)
            memcpy(slot->row, row, bytes);
        else
            table_merge_row(type, row, slot->row);
    }
}

static int64_t weight_in(const struct column *column, const char *row)
{
    double seconds;
    int64_t value;
    if (strcmp(column->dtype, "<f8") == 0) {
        memcpy(&seconds, row + column->offset, sizeof seconds);
        return (int64_t)(seconds * 1e9);
    }
    memcpy(&value, row + column->offset, sizeof value);
    return value;
}

static bool is_weighed_by(const struct process_table *type, const struct column *column)
{
    for (size_t i = 0; i < WEIGHING_COLUMNS && type->merging.weighed_by[i]; i++)
        if (strcmp(type->merging.weighed_by[i], column->name) == 0)
            return true;
    return false;
}

static void weigh(const struct process_table *type, const char *rows, size_t count, int64_t *weight)
{
    for (size_t i = 0; i < count; i++)
        weight[i] = type->merging.weight ? type->merging.weight(rows + i * type->row_bytes) : 0;
    for (size_t c = 0; c < type->column_count; c++)
        for (size_t i = 0; is_weighed_by(type, &type->columns[c]) && i < count; i++)
            weight[i] += weight_in(&type->columns[c], rows + i * type->row_bytes);
}

int table_choose(const struct process_table *type, choose_largest *choose,
                 const struct iolens_transport *transport, int64_t most, const struct buffer *rows,
                 struct buffer *choices)
{
    size_t count = rows->used / type->row_bytes;
    struct buffer weights = {0};
    int64_t *weight = buffer_add(&weights, (count + 1) * sizeof *weight);
    bool *chosen = buffer_add(choices, count + 1);
    int result = weight && chosen ? 0 : -1;
    if (result == 0) {
        weigh(type, rows->data, count, weight);
        result = choose(transport, weight, count, most, chosen);
    }
    buffer_free(&weights);
    return result;
}

static int keep_largest(enum process_table_index table, const struct iolens_transport *transport,
                        int64_t most, struct buffer *rows)
{
    const struct process_table *type = process_tables[table];
    size_t stride = sizeof(struct staged_row) + type->row_bytes;
    struct buffer choices = {0}, stage = {0};
    char *slots = buffer_add(&stage, type->merging.rest_slots * stride);
    int result = slots ? table_choose(type, top_rows_choose, transport, most, rows, &choices) : -1;
    for (size_t i = 0; slots && i < type->merging.rest_slots; i++)
        ((struct staged_row *)(slots + i * stride))->table = table;
    if (result == 0)
        stage_rest(type, (const bool *)choices.data, slots, rows);
    if (result == 0)
        result = transport->reduce_records(slots, stride, type->merging.rest_slots, table_combine);
    for (size_t i = 0; result == 0 && transport->rank == 0 && i < type->merging.rest_slots; i++) {
        const struct staged_row *slot = (const struct staged_row *)(slots + i * stride);
        if (slot->rows > 0)
            buffer_put(rows, slot->row, type->row_bytes);
    }
    buffer_free(&choices);
    buffer_free(&stage);
    return result;
}

static bool may_be_too_many(const int64_t at_most[TABLE_COUNT], int64_t most)
{
    for (int i = 0; i < TABLE_COUNT; i++)
        if (process_tables[i]->merging.rest && at_most[i] > most)
            return true;
    return false;
}

void tables_bound(const struct iolens_transport *transport, int64_t most, const int64_t at_most[TABLE_COUNT],
                  struct buffer rows[TABLE_COUNT])
{
    int64_t all[TABLE_COUNT] = {0};
    if (!may_be_too_many(at_most, most))
        return;
    for (int i = 0; i < TABLE_COUNT; i++)
        if (process_tables[i]->merging.rest)
            all[i] = (int64_t)(rows[i].used / process_tables[i]->row_bytes);
    bool known = transport->allreduce(all, TABLE_COUNT, IOLENS_INT64, IOLENS_SUM) == 0;
    for (int i = 0; i < TABLE_COUNT; i++)
        if (!known || (all[i] > most && keep_largest(i, transport, most, &rows[i]) != 0))
            rows[i].failed = true;
}

/* Clears the columns that a row of several ranks does not have. */
static void clear_columns(const struct process_table *type, char *row)
{
    for (size_t i = 0; i < type->column_count; i++) {
        const struct column *column = &type->columns[i];
        if (column->merge == COLUMN_NONE)
            memset(row + column->offset, 0, column->bytes);
        else if (column->merge == COLUMN_RANK)
            memcpy(row + column->offset, &(int64_t){-1}, sizeof(int64_t));
    }
}

/* Keeps the chosen rows, and stages the others. */
static void part_rows(enum process_table_index table, const bool *chosen, struct buffer *rows,
                      struct buffer *stage)
{
    size_t bytes = process_tables[table]->row_bytes, count = rows->used / bytes;
    rows->used = 0;
    for (size_t i = 0; i < count; i++) {
        struct staged_row *item = buffer_add(stage, sizeof *item + bytes);
        if (!item)
            return;
        *item = (struct staged_row){.table = table, .rows = !chosen[i]};
        memcpy(item->row, rows->data + i * bytes, bytes);
        if (chosen[i]) {
            memmove(rows->data + rows->used, item->row, bytes);
            rows->used += bytes;
        }
    }
}

int table_keep_largest(enum process_table_index table, const struct iolens_transport *transport, int64_t most,
                       struct buffer *rows)
{
    const struct process_table *type = process_tables[table];
    size_t stride = sizeof(struct staged_row) + type->row_bytes, count = rows->used / type->row_bytes;
    struct buffer choices = {0}, stage = {0};
    int result = rows->failed ? -1 : table_choose(type, top_ranks_choose, transport, most, rows, &choices);
    if (result == 0)
        part_rows(table, (const bool *)choices.data, rows, &stage);
    if (stage.failed)
        result = -1;
    if (result == 0)
        result = transport->reduce_records(stage.data, stride, count, table_combine);
    for (size_t i = 0; result == 0 && transport->rank == 0 && i < count; i++) {
        struct staged_row *item = (struct staged_row *)(stage.data + i * stride);
        clear_columns(type, item->row);
        if (item->rows > 0)
            buffer_put(rows, item->row, type->row_bytes);
    }
    buffer_free(&choices);
    buffer_free(&stage);
    return result;
}
