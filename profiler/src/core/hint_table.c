#include "hint_table.h"

#include <stdint.h>
#include <stdio.h>

#include "../modules/mpiio.h"
#include "context.h"
#include "table.h"

enum { KEY_BYTES = 64, VALUE_BYTES = 256 };

struct row {
    uint64_t file;
    char key[KEY_BYTES], requested[VALUE_BYTES], given[VALUE_BYTES], effective[VALUE_BYTES];
};

static const struct column COLUMNS[] = {
    COLUMN(file, "<u8", "record id", "the file, as in the name region"),
    COLUMN(key, "S64", "", "name of the hint"),
    COLUMN(requested, "S256", "", "value given at open, set_view or set_info; empty when not given"),
    COLUMN(given, "S256", "", "value that IOLENS_HINTS put in its place at open; empty when it names none"),
    COLUMN(effective, "S256", "", "value that MPI_File_get_info reported before close; empty when absent"),
};

void hint_table_write(const struct iolens_transport *transport, struct buffer *out)
{
    (void)transport;
    struct buffer rows = {0};
    for (struct file *file = registry_first(MODULE_MPIIO); file; file = registry_next(file, MODULE_MPIIO)) {
        const struct iolens_mpiio_file *state = file->state[MODULE_MPIIO];
        for (const struct mpiio_hint *hint = state->hints; hint; hint = hint->next) {
            struct row *row = buffer_add(&rows, sizeof *row);
            if (!row)
                break;
            row->file = file->id;
            snprintf(row->key, sizeof row->key, "%s", hint->key);
            snprintf(row->requested, sizeof row->requested, "%s", hint->requested ? hint->requested : "");
            snprintf(row->given, sizeof row->given, "%s", hint->given ? hint->given : "");
            snprintf(row->effective, sizeof row->effective, "%s", hint->effective ? hint->effective : "");
        }
    }
    out->failed |= rows.failed;
    table_write(out, COLUMNS, sizeof COLUMNS / sizeof *COLUMNS, rows.data, sizeof(struct row),
                rows.used / sizeof(struct row));
    buffer_free(&rows);
}
