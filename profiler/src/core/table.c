#include "table.h"

#include "context.h"

static void name_columns(struct buffer *out, const struct column *columns, size_t count)
{
    buffer_format(out, ", \"columns\": [");
    for (size_t i = 0; i < count; i++)
        buffer_format(out, "%s{\"name\": \"%s\", \"dtype\": \"%s\", \"unit\": \"%s\", \"meaning\": \"%s\"}",
                      i ? ", " : "", columns[i].name, columns[i].dtype, columns[i].unit, columns[i].meaning);
    buffer_format(out, "]");
}

void table_write(struct buffer *out, const struct column *columns, size_t count, const void *rows,
                 size_t row_bytes, size_t row_count)
{
    const struct iolens_transport *transport = iolens.transport; /* NULL: the process is alone */
    bool leads = !transport || transport->rank == 0;
    if (row_count == 0 && !(leads && transport && transport->size > 1))
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
