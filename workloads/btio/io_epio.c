/* epio: a file for each process, as Fortran's sequential unformatted output writes it: one record for each
 * cell, its length in bytes as a 4-byte integer before and after it. */
#include <stdlib.h>

#include "fail.h"
#include "store.h"

enum { MARKER = EPIO_RECORD_EXTRA / 2, LONGEST_RECORD = INT32_MAX - EPIO_RECORD_EXTRA };

static size_t cell_bytes(const Cell *cell)
{
    return (size_t)cell->size[0] * cell->size[1] * cell->size[2] * POINT_BYTES;
}

static void open_epio(Store *store, bool writing)
{
    size_t longest = 0;
    for (int c = 0; c < store->domain->edge; c++)
        if (cell_bytes(&store->domain->cells[c]) > longest)
            longest = cell_bytes(&store->domain->cells[c]);
    if (longest > LONGEST_RECORD) {
        trouble_note(&store->trouble,
                     "a cell of %zu bytes does not fit a Fortran record (%d bytes); use more ranks", longest,
                     LONGEST_RECORD);
        return;
    }
    store->record = allocate(longest + EPIO_RECORD_EXTRA, 1);
    posix_open(store, writing);
}

/* Returns the byte at which a dump begins. */
static long long dump_start(const Domain *domain, int dump)
{
    return dump * (domain->points * POINT_BYTES + domain->edge * EPIO_RECORD_EXTRA);
}

static void write_epio(Store *store, int dump)
{
    long long offset = dump_start(store->domain, dump);
    const char *from = (const char *)store->buffer;
    for (int c = 0; c < store->domain->edge; c++) {
        size_t bytes = cell_bytes(&store->domain->cells[c]);
        int32_t marker = (int32_t)bytes;
        memcpy(store->record, &marker, MARKER);
        memcpy(store->record + MARKER, from, bytes);
        memcpy(store->record + MARKER + bytes, &marker, MARKER);
        posix_write(store, store->record, bytes + EPIO_RECORD_EXTRA, offset);
        offset += (long long)bytes + EPIO_RECORD_EXTRA;
        from += bytes;
    }
}

static void read_epio(Store *store, int dump)
{
    long long offset = dump_start(store->domain, dump);
    char *to = (char *)store->buffer;
    for (int c = 0; c < store->domain->edge; c++) {
        size_t bytes = cell_bytes(&store->domain->cells[c]);
        int32_t before, after;
        posix_read(store, store->record, bytes + EPIO_RECORD_EXTRA, offset);
        memcpy(&before, store->record, MARKER);
        memcpy(&after, store->record + MARKER + bytes, MARKER);
        if (before != (int32_t)bytes || after != (int32_t)bytes)
            trouble_note(&store->trouble, "%s: the record at byte %lld is not one of %zu bytes", store->path,
                         offset, bytes);
        memcpy(to, store->record + MARKER, bytes);
        offset += (long long)bytes + EPIO_RECORD_EXTRA;
        to += bytes;
    }
}

static void close_epio(Store *store)
{
    posix_close(store);
    free(store->record);
    store->record = NULL;
}

const Method METHOD_EPIO = {"epio", "EPIO", true, open_epio, write_epio, read_epio, close_epio};
