#include "private.h"

#include <string.h>

#include "../modules/collective.h"
#include "../modules/extra.h"
#include "file_ranks.h"
#include "hint_table.h"
#include "job_region.h"

static void enter(struct buffer *directory, const char *name, const char *kind, struct log_span span)
{
    if (span.bytes == 0)
        return;
    buffer_format(directory, "%s{\"name\": \"%s\", \"kind\": \"%s\", \"offset\": %llu, \"bytes\": %llu}",
                  directory->used ? ", " : "", name, kind, (unsigned long long)span.offset,
                  (unsigned long long)span.bytes);
}

static void finish(struct writer *writer, const struct buffer *entries)
{
    struct buffer directory = {0};
    buffer_format(&directory, "{\"schema\": 1, \"regions\": [");
    buffer_put(&directory, entries->data, entries->used);
    buffer_format(&directory, "]}");
    struct log_footer footer = {.directory_offset = writer->offset, .directory_bytes = directory.used};
    memcpy(footer.magic, LOG_FOOTER_MAGIC, sizeof footer.magic);
    writer_put(writer, writer->offset, directory.data, directory.used);
    writer_put(writer, writer->offset + directory.used, &footer, sizeof footer);
    buffer_free(&directory);
}

void private_write(struct writer *writer, const struct iolens_transport *transport, const int64_t *partial)
{
    struct buffer job = {0}, ranks = {0}, hints = {0}, extra = {0}, collectives = {0};
    struct buffer entries = {0};
    job_region_write(transport, partial, &job);
    enter(&entries, "job", "json", writer_region(writer, &job, false));
    file_ranks_write(transport, &ranks);
    enter(&entries, "file_ranks", "table", writer_region(writer, &ranks, false));
    hint_table_write(&hints);
    enter(&entries, "mpiio_hints", "table", writer_region(writer, &hints, false));
    extra_table_write(transport->rank, &extra);
    enter(&entries, "posix_extra", "table", writer_region(writer, &extra, false));
    collective_table_write(transport, &collectives);
    enter(&entries, "mpiio_collectives", "table", writer_region(writer, &collectives, false));
    if (transport->rank == 0)
        finish(writer, &entries);
    buffer_free(&job);
    buffer_free(&ranks);
    buffer_free(&hints);
    buffer_free(&extra);
    buffer_free(&collectives);
    buffer_free(&entries);
}
