#include <stdio.h>

#include "../../files/registry.h"
#include "../../tables/process_table.h"
#include "mpiio.h"

enum { KEY_BYTES = 64, VALUE_BYTES = 256 };

struct row {
    uint64_t file;
    char key[KEY_BYTES], requested[VALUE_BYTES], given[VALUE_BYTES], effective[VALUE_BYTES];
};

static const struct column COLUMNS[] = {
    COLUMN(file, "<u8", "record id", "the file, by its id in the name region"),
    TEXT(key, "S64", "name of the hint", TEXT_WORD),
    TEXT(requested, "S256", "value given at open, set_view or set_info; empty when not given", TEXT_NAME),
    TEXT(given, "S256",
         "value from IOLENS_HINTS that replaced the requested one at open; empty where IOLENS_HINTS has none",
         TEXT_NAME),
    TEXT(effective, "S256", "value that MPI_File_get_info reported before close; empty when absent",
         TEXT_NAME),
};

static void put_hint(struct buffer *rows, const struct file *file, const struct mpiio_hint *hint)
{
    struct row *row = buffer_add(rows, sizeof *row);
    if (!row)
        return;
    row->file = file->id;
    snprintf(row->key, sizeof row->key, "%s", hint->key);
    snprintf(row->requested, sizeof row->requested, "%s", hint->requested ? hint->requested : "");
    snprintf(row->given, sizeof row->given, "%s", hint->given ? hint->given : "");
    snprintf(row->effective, sizeof row->effective, "%s", hint->effective ? hint->effective : "");
}

static void collect(const struct iolens_transport *transport, struct buffer *rows)
{
    (void)transport;
    for (struct file *file = registry_first(MODULE_MPIIO); file; file = registry_next(file, MODULE_MPIIO)) {
        const struct iolens_mpiio_file *state = file->state[MODULE_MPIIO];
        for (const struct mpiio_hint *hint = state->hints; hint; hint = hint->next)
            put_hint(rows, file, hint);
    }
}

const struct process_table table_mpiio_hints = {
    .name = "mpiio_hints",
    .meaning = "An MPI-IO hint of a file, from rank 0 of its communicator: the value that the program asked "
               "for, and the value that the MPI library reported",
    TABLE_ROWS(COLUMNS),
    .merging.collect = collect,
};
