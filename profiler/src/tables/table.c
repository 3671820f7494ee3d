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

/* Copies the text instead of formatting it, which takes ten times as long: a log has hundreds of members. */
static void put_member(struct buffer *out, const char *key, const char *value)
{
    buffer_text(out, key);
    buffer_text(out, value);
    buffer_text(out, "\"");
}

static void name_column(struct buffer *out, const struct column *column)
{
    const char *merge = column_merge_name(column->merge), *text = column_text_name(column->text);
    put_member(out, "{\"name\": \"", column->name);
    put_member(out, ", \"dtype\": \"", column->dtype);
    put_member(out, ", \"unit\": \"", column->unit);
    buffer_text(out, ", \"meaning\": ");
    buffer_json(out, column->meaning);
    if (merge)
        put_member(out, ", \"merge\": \"", merge);
    if (text)
        put_member(out, ", \"text\": \"", text);
    buffer_text(out, "}");
}

static void name_columns(struct buffer *out, const struct column *columns, size_t count)
{
    buffer_text(out, ", \"columns\": [");
    for (size_t i = 0; i < count; i++) {
        buffer_text(out, i ? ", " : "");
        name_column(out, &columns[i]);
    }
    buffer_text(out, "]");
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
    buffer_format(out, "}%*s\n", filled ? (int)(item - filled) : 0,
                  ""); /* Spaces after the header align the columns. */
    for (size_t i = 0; i < count; i++)
        for (size_t row = 0; row < row_count; row++)
            buffer_put(out, (const char *)rows + row * row_bytes + columns[i].offset, columns[i].bytes);
}
