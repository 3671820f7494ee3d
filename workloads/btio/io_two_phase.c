/* The method full without MPI-IO: the same collective transfers through the toolkit's own two-phase method,
 * in which each stripe always belongs to the same aggregator, as in ROMIO's driver for Lustre. */
#include <stdlib.h>

#include "store.h"
#include "two_phase.h"

/* A row of a cell: the place of its points in dump 0 of the file, and the position in the store's buffer
 * where they begin. */
typedef struct Row {
    Piece piece;
    int64_t place;
} Row;

struct TwoPhaseRows {
    TwoPhase file;
    size_t count;
    Row *rows;     /* Rows in the order of the file. */
    Piece *pieces; /* Places where the rows of the current dump lie in the file: one piece for each row. */
    char *ordered; /* Data of the current dump in the order of the file. */
};

static int by_offset(const void *a, const void *b)
{
    const Row *one = a, *other = b;
    return (one->piece.offset > other->piece.offset) - (one->piece.offset < other->piece.offset);
}

static void find_rows(const Domain *domain, struct TwoPhaseRows *through)
{
    int64_t place = 0;
    for (int c = 0; c < domain->edge; c++)
        through->count += (size_t)domain->cells[c].size[1] * domain->cells[c].size[2];
    through->rows = allocate(through->count, sizeof(Row));
    through->pieces = allocate(through->count, sizeof(Piece));
    through->ordered = allocate((size_t)domain->points, POINT_BYTES);
    Row *row = through->rows;
    for (int c = 0; c < domain->edge; c++) {
        const Cell *cell = &domain->cells[c];
        int64_t bytes = (int64_t)cell->size[0] * POINT_BYTES;
        for (int z = 0; z < cell->size[2]; z++)
            for (int y = 0; y < cell->size[1]; y++, place += bytes)
                *row++ = (Row){{file_point(domain, cell, y, z, 0) * POINT_BYTES, bytes}, place};
    }
    qsort(through->rows, through->count, sizeof(Row), by_offset);
}

static void open_rows(Store *store, bool writing)
{
    struct TwoPhaseRows *through = allocate(1, sizeof *through);
    store->through = through;
    find_rows(store->domain, through);
    two_phase_open(&through->file, store->path, writing, DOMAINS_BOUND, store->hints, store->domain->comm,
                   &store->trouble);
    if (writing)
        two_phase_hints(&through->file, &store->effective);
}

static void place_pieces(const Store *store, int dump)
{
    const int *grid = store->domain->grid;
    int64_t begin = (int64_t)dump * grid[0] * grid[1] * grid[2] * POINT_BYTES;
    for (size_t i = 0; i < store->through->count; i++) {
        Piece piece = store->through->rows[i].piece;
        store->through->pieces[i] = (Piece){begin + piece.offset, piece.bytes};
    }
}

static void write_rows(Store *store, int dump)
{
    struct TwoPhaseRows *through = store->through;
    char *to = through->ordered;
    for (size_t i = 0; i < through->count; to += through->rows[i++].piece.bytes)
        memcpy(to, (char *)store->buffer + through->rows[i].place, (size_t)through->rows[i].piece.bytes);
    place_pieces(store, dump);
    two_phase_write(&through->file, through->pieces, through->count, through->ordered);
    store->calls++;
}

static void read_rows(Store *store, int dump)
{
    struct TwoPhaseRows *through = store->through;
    const char *from = through->ordered;
    place_pieces(store, dump);
    two_phase_read(&through->file, through->pieces, through->count, through->ordered);
    store->calls++;
    for (size_t i = 0; i < through->count; from += through->rows[i++].piece.bytes)
        memcpy((char *)store->buffer + through->rows[i].place, from, (size_t)through->rows[i].piece.bytes);
}

static void close_rows(Store *store)
{
    struct TwoPhaseRows *through = store->through;
    two_phase_close(&through->file, store->flush);
    writes_free(&through->file.writes);
    free(through->rows);
    free(through->pieces);
    free(through->ordered);
    free(through);
    store->through = NULL;
}

const Method METHOD_TWO_PHASE = {
    "full", "FULL, TWO-PHASE WITH BOUND STRIPES", false, open_rows, write_rows, read_rows, close_rows};
