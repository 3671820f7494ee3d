/* Methods 0 and 1: one call of MPI-IO for each dump, or one for each cell. The view shows a rank its cells of
 * one dump, one cell after the other, and repeats dump after dump. */
#include "pattern.h"

#include <stdlib.h>
#include <unistd.h>

static void make_view(Pattern *pattern)
{
    const Domain *domain = pattern->domain;
    int edge = domain->edge;
    int whole[3] = {domain->grid[2], domain->grid[1], domain->grid[0]};
    MPI_Datatype *cells = allocate(edge, sizeof *cells), all;
    int *lengths = allocate(edge, sizeof *lengths);
    MPI_Aint *places = allocate(edge, sizeof *places);
    for (int c = 0; c < edge; c++) {
        const Cell *cell = &domain->cells[c];
        int size[3] = {cell->size[2], cell->size[1], cell->size[0]};
        int low[3] = {cell->low[2], cell->low[1], cell->low[0]};
        MPI_Type_create_subarray(3, whole, size, low, MPI_ORDER_C, pattern->point, &cells[c]);
        lengths[c] = 1;
    }
    MPI_Type_create_struct(edge, lengths, places, cells, &all);
    MPI_Type_create_resized(all, 0, (MPI_Aint)whole[0] * whole[1] * whole[2] * POINT_BYTES, &pattern->view);
    MPI_Type_commit(&pattern->view);
    MPI_Type_free(&all);
    for (int c = 0; c < edge; c++)
        MPI_Type_free(&cells[c]);
    free(cells);
    free(lengths);
    free(places);
}

static void open_mpi(Pattern *pattern, bool writing)
{
    int mode = writing ? MPI_MODE_WRONLY | MPI_MODE_CREATE : MPI_MODE_RDONLY;
    make_view(pattern);
    int code = MPI_File_open(pattern->domain->comm, pattern->path, mode, pattern->info, &pattern->file);
    trouble_note_mpi(&pattern->trouble, code, "cannot open", pattern->path);
    if (code != MPI_SUCCESS)
        return;
    code = MPI_File_set_view(pattern->file, 0, MPI_BYTE, pattern->view, "native", pattern->info);
    trouble_note_mpi(&pattern->trouble, code, "cannot set the view of", pattern->path);
    hints_of_file(&pattern->effective, pattern->file);
}

typedef int Transfer(MPI_File file, void *data, int count, MPI_Datatype type, MPI_Status *status);

static int write_collective(MPI_File file, void *data, int count, MPI_Datatype type, MPI_Status *status)
{
    return MPI_File_write_all(file, data, count, type, status);
}

static int write_independent(MPI_File file, void *data, int count, MPI_Datatype type, MPI_Status *status)
{
    return MPI_File_write(file, data, count, type, status);
}

static void transfer(Pattern *pattern, Transfer *call, double *data, MPI_Datatype type, const char *verb)
{
    MPI_Status status;
    int wanted, moved = 0;
    char what[64];
    snprintf(what, sizeof what, "cannot %s", verb);
    pattern->calls++;
    int code = call(pattern->file, data, 1, type, &status);
    trouble_note_mpi(&pattern->trouble, code, what, pattern->path);
    if (code != MPI_SUCCESS)
        return;
    MPI_Type_size(type, &wanted);
    MPI_Get_count(&status, MPI_BYTE, &moved);
    if (moved != wanted)
        trouble_note(&pattern->trouble, "short %s: %d of %d bytes of %s", verb, moved, wanted, pattern->path);
}

static void each_transfer(Pattern *pattern, Transfer *call, const char *verb)
{
    double start = MPI_Wtime();
    if (!pattern->per_cell)
        transfer(pattern, call, pattern->field, pattern->all, verb);
    for (int c = 0; pattern->per_cell && c < pattern->domain->edge; c++)
        transfer(pattern, call, pattern_cell(pattern, c), pattern->cells[c], verb);
    pattern->post_seconds += MPI_Wtime() - start;
}

static void move_collective(Pattern *pattern, int dump, bool writing)
{
    (void)dump;
    each_transfer(pattern, writing ? write_collective : MPI_File_read_all, writing ? "write" : "read");
}

/* Moves a dump by independent calls; ends the job at a failure. After a failed write of pieces ROMIO leaves
 * the file locked, and ranks that write later would wait for ever. */
static void move_independent(Pattern *pattern, int dump, bool writing)
{
    (void)dump;
    each_transfer(pattern, writing ? write_independent : MPI_File_read, writing ? "write" : "read");
    if (!pattern->trouble.any)
        return;
    if (writing) {
        trouble_add_space(&pattern->trouble, pattern->path);
        unlink(pattern->path);
    }
    fail_alone("%s", pattern->trouble.text);
}

static void close_mpi(Pattern *pattern)
{
    if (pattern->file != MPI_FILE_NULL)
        trouble_note_mpi(&pattern->trouble, MPI_File_close(&pattern->file), "cannot close", pattern->path);
    MPI_Type_free(&pattern->view);
}

const PatternMethod PATTERN_MPI_COLLECTIVE = {
    "mpi-collective", "0", "MPI collective I/O", "btio.mpi", true, open_mpi, move_collective, close_mpi,
};
const PatternMethod PATTERN_MPI_INDEPENDENT = {
    "mpi-independent", "1", "MPI independent I/O", "btio.mpi", true, open_mpi, move_independent, close_mpi,
};
