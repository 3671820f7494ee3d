#include "private.h"

#include <string.h>

#include "../modules/collective.h"
#include "../modules/extra.h"
#include "../modules/lustre.h"
#include "../modules/lustre_client.h"
#include "../modules/mpiio_extra.h"
#include "../modules/unfollowed.h"
#include "file_ranks.h"
#include "hint_table.h"
#include "job_region.h"

static const struct private_region {
    const char *name, *kind;
    /* Collective. This rank's part; nothing when it has nothing to say. */
    void (*write)(const struct iolens_transport *transport, struct buffer *out);
} REGIONS[] = {
    {"file_ranks", "table", file_ranks_write},
    {"mpiio_hints", "table", hint_table_write},
    {"posix_extra", "table", extra_table_write},
    {"mpiio_collectives", "table", collective_table_write},
    {"mpiio_extra", "table", mpiio_extra_table_write},
    {"ost_bytes", "table", lustre_table_write},
    {"lustre_client", "table", lustre_client_table_write},
    {"unfollowed", "table", unfollowed_table_write},
    {"job", "json", job_region_write}, /* last: it tells what the others left out */
};

enum { REGION_COUNT = sizeof REGIONS / sizeof *REGIONS, DARSHAN_REGIONS = 2 + MODULE_COUNT };

_Static_assert(DARSHAN_REGIONS + REGION_COUNT <= WRITER_REGIONS, "WRITER_REGIONS is too small");

int private_add(struct writer *writer, const struct iolens_transport *transport)
{
    int first = writer->regions;
    for (int i = 0; i < REGION_COUNT; i++) {
        struct records part;
        records_open(&part, sizeof(uint64_t), 0);
        REGIONS[i].write(transport, &part.bytes);
        writer_add_records(writer, &part);
    }
    return first;
}

static void enter(struct buffer *directory, const struct private_region *region, struct log_span span,
                  const char *comma)
{
    buffer_format(directory, "%s{\"name\": \"%s\", \"kind\": \"%s\", \"offset\": %llu, \"bytes\": %llu}",
                  comma, region->name, region->kind, (unsigned long long)span.offset,
                  (unsigned long long)span.bytes);
}

void private_finish(struct writer *writer, int first)
{
    struct buffer directory = {0};
    const char *comma = "";
    buffer_format(&directory, "{\"schema\": 2, \"regions\": [");
    for (int i = 0; i < REGION_COUNT; i++) {
        struct log_span span = writer->region[first + i].span;
        if (span.bytes == 0)
            continue;
        enter(&directory, &REGIONS[i], span, comma);
        comma = ", ";
    }
    buffer_format(&directory, "]}");
    struct log_footer footer = {.directory_offset = writer->offset, .directory_bytes = directory.used};
    memcpy(footer.magic, LOG_FOOTER_MAGIC, sizeof footer.magic);
    writer_put(writer, writer->offset, directory.data, directory.used);
    writer_put(writer, writer->offset + directory.used, &footer, sizeof footer);
    buffer_free(&directory);
}
