#include "table_largest.h"

#include <string.h>

#include "../ranks/top_ranks.h"
#include "table_merge.h"

/* A row that is merged over the ranks. */
struct staged {
    int64_t table, rows; /* rows is 0 if there is none */
    char row[];
};

static void combine(const void *in, void *inout)
{
    const struct staged *a = in;
    struct staged *b = inout;
    const struct process_table *type = process_tables[a->table];
    if (a->rows > 0 && b->rows == 0)
        memcpy(b->row, a->row, type->row_bytes);
    else if (a->rows > 0)
        table_merge_row(type, a->row, b->row);
    b->rows += a->rows;
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
        struct staged *item = buffer_add(stage, sizeof *item + bytes);
        if (!item)
            return;
        *item = (struct staged){.table = table, .rows = !chosen[i]};
        memcpy(item->row, rows->data + i * bytes, bytes);
        if (chosen[i]) {
            memmove(rows->data + rows->used, item->row, bytes);
            rows->used += bytes;
        }
    }
}

static int choose(enum process_table_index table, const struct iolens_transport *transport, int64_t most,
                  const struct buffer *rows, struct buffer *choices)
{
    const struct process_table *type = process_tables[table];
    size_t count = rows->used / type->row_bytes;
    struct buffer weights = {0};
    int64_t *weight = buffer_add(&weights, count * sizeof *weight + 1);
    bool *chosen = buffer_add(choices, count + 1);
    for (size_t i = 0; weight && i < count; i++)
        weight[i] = type->weight(rows->data + i * type->row_bytes);
    int result = weight && chosen && !rows->failed ? 0 : -1;
    if (result == 0)
        result = top_ranks_choose(transport, weight, count, most, chosen);
    buffer_free(&weights);
    return result;
}

int table_keep_largest(enum process_table_index table, const struct iolens_transport *transport, int64_t most,
                       struct buffer *rows)
{
    const struct process_table *type = process_tables[table];
    size_t stride = sizeof(struct staged) + type->row_bytes, count = rows->used / type->row_bytes;
    struct buffer choices = {0}, stage = {0};
    int result = choose(table, transport, most, rows, &choices);
    if (result == 0)
        part_rows(table, (const bool *)choices.data, rows, &stage);
    if (stage.failed)
        result = -1;
    if (result == 0)
        result = transport->reduce_records(stage.data, stride, count, combine);
    for (size_t i = 0; result == 0 && transport->rank == 0 && i < count; i++) {
        struct staged *item = (struct staged *)(stage.data + i * stride);
        clear_columns(type, item->row);
        if (item->rows > 0)
            buffer_put(rows, item->row, type->row_bytes);
    }
    buffer_free(&choices);
    buffer_free(&stage);
    return result;
}
