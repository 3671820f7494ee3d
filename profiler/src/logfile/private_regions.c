#include <string.h>

#include "../records/module.h"
#include "../tables/table_merge.h"
#include "writer.h"

enum { DARSHAN_REGIONS = 2 + MODULE_COUNT };

_Static_assert(DARSHAN_REGIONS + TABLE_COUNT <= WRITER_REGIONS,
               "WRITER_REGIONS must have room for every region");

int private_add(struct writer *writer, const struct iolens_transport *transport)
{
    int first = writer->regions;
    struct buffer rows[TABLE_COUNT] = {0};
    int64_t at_most[TABLE_COUNT];
    tables_collect(transport, rows, at_most);
    tables_bound(transport, tables_most_rows(false), at_most, rows);
    for (int i = 0; i < TABLE_COUNT; i++) {
        struct records part;
        records_open(&part, sizeof(uint64_t), 0);
        table_put(i, transport, &rows[i], &part.bytes);
        writer_add_records(writer, &part);
        buffer_free(&rows[i]);
    }
    return first;
}

static void enter(struct buffer *directory, const struct process_table *table, struct log_span span,
                  const char *comma)
{
    buffer_format(directory, "%s{\"name\": \"%s\", \"kind\": \"%s\", \"offset\": %llu, \"bytes\": %llu}",
                  comma, table->name, table->merging.write ? "json" : "table",
                  (unsigned long long)span.offset, (unsigned long long)span.bytes);
}

void private_finish(struct writer *writer, int first)
{
    struct buffer directory = {0};
    const char *comma = "";
    buffer_format(&directory, "{\"schema\": 2, \"regions\": [");
    for (int i = 0; i < TABLE_COUNT; i++) {
        struct log_span span = writer->region[first + i].span;
        if (span.bytes == 0)
            continue;
        enter(&directory, process_tables[i], span, comma);
        comma = ", ";
    }
    buffer_format(&directory, "]}");
    struct log_footer footer = {.directory_offset = writer->offset, .directory_bytes = directory.used};
    memcpy(footer.magic, LOG_FOOTER_MAGIC, sizeof footer.magic);
    buffer_put(&directory, &footer, sizeof footer);
    writer_put(writer, writer->offset, directory.data, directory.used);
    buffer_free(&directory);
}
