#include "table_largest.h"

#include <string.h>

#include "../ranks/top_ranks.h"
#include "table_merge.h"

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
