#include "table.h"

#include <stdbool.h>
#include <stdint.h>

const char *column_merge_name(enum column_merge merge)
{
    static const char *const NAMES[] = {
        [COLUMN_KEY] = "key",         [COLUMN_RANK] = "rank",         [COLUMN_SUM] = "sum",
        [COLUMN_LARGEST] = "largest", [COLUMN_SMALLEST] = "smallest", [COLUMN_EARLIEST] = "earliest"};
    return NAMES[merge];
}

const char *column_text_name(enum column_text text)
{
    static const char *const NAMES[] = {[TEXT_NAME] = "name", [TEXT_WORD] = "word"};
    return NAMES[text];
}

static void name_column(struct buffer *out, const struct column *column)
{
    const char *merge = column_merge_name(column->merge), *text = column_text_name(column->text);
    buffer_format(out, "{\"name\": \"%s\", \"dtype\": \"%s\", \"unit\": \"%s\", \"meaning\": ", column->name,
                  column->dtype, column->unit);
    buffer_json(out, column->meaning);
    if (merge)
        buffer_format(out, ", \"merge\": \"%s\"", merge);
    if (text)
        buffer_format(out, ", \"text\": \"%s\"", text);
    buffer_format(out, "}");
}

static void name_columns(struct buffer *out, const struct column *columns, size_t count)
{
    buffer_format(out, ", \"columns\": [");
    for (size_t i = 0; i < count; i++) {
        buffer_format(out, "%s", i ? ", " : "");
        name_column(out, &columns[i]);
    }
    buffer_format(out, "]");
}

void table_write(struct buffer *out, struct table_writers writers, const struct column *columns, size_t count,
                 const void *rows, size_t row_bytes, size_t row_count)
{
    bool leads = writers.rank == 0;
    if (row_count == 0 && !(leads && writers.size > 1))
        return;
    buffer_format(out, "{\"rows\": %zu", row_count);
    if (leads)
        name_columns(out, columns, count);
    const size_t item = sizeof(uint64_t), filled = (out->used + 2) % item;
    buffer_format(out, "}%*s\n", filled ? (int)(item - filled) : 0, ""); /* so that columns can be packed */
    for (size_t i = 0; i < count; i++)
        for (size_t row = 0; row < row_count; row++)
            buffer_put(out, (const char *)rows + row * row_bytes + columns[i].offset, columns[i].bytes);
}
