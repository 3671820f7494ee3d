#include "table.h"

void table_write(struct buffer *out, const struct column *columns, size_t count, const void *rows,
                 size_t row_bytes, size_t row_count)
{
    if (row_count == 0)
        return;
    buffer_format(out, "{\"rows\": %zu, \"columns\": [", row_count);
    for (size_t i = 0; i < count; i++)
        buffer_format(out, "%s{\"name\": \"%s\", \"dtype\": \"%s\", \"unit\": \"%s\", \"meaning\": \"%s\"}",
                      i ? ", " : "", columns[i].name, columns[i].dtype, columns[i].unit, columns[i].meaning);
    buffer_format(out, "]}\n");
    for (size_t i = 0; i < count; i++)
        for (size_t row = 0; row < row_count; row++)
            buffer_put(out, (const char *)rows + row * row_bytes + columns[i].offset, columns[i].bytes);
}
