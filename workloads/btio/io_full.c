/* The method full: one collective write of all points of a rank, through a file type made of one subarray for
 * each cell. */
#include <stdlib.h>

#include "fail.h"
#include "store.h"

/* Elements are points of five doubles; the type covers one dump, so that the view repeats it dump after dump.
 */
static void make_types(Store *store)
{
    const Domain *domain = store->domain;
    int edge = domain->edge;
    int whole[3] = {domain->grid[2], domain->grid[1], domain->grid[0]};
    MPI_Datatype *cell_types = allocate(edge, sizeof(MPI_Datatype)), all;
    int *lengths = allocate(edge, sizeof(int));
    MPI_Aint *places = allocate(edge, sizeof(MPI_Aint));
    MPI_Type_contiguous(COMPONENTS, MPI_DOUBLE, &store->point);
    MPI_Type_commit(&store->point);
    for (int c = 0; c < edge; c++) {
        const Cell *cell = &domain->cells[c];
        int size[3] = {cell->size[2], cell->size[1], cell->size[0]};
        int low[3] = {cell->low[2], cell->low[1], cell->low[0]};
        MPI_Type_create_subarray(3, whole, size, low, MPI_ORDER_C, store->point, &cell_types[c]);
        lengths[c] = 1;
    }
    MPI_Type_create_struct(edge, lengths, places, cell_types, &all);
    MPI_Type_create_resized(all, 0, (MPI_Aint)whole[0] * whole[1] * whole[2] * POINT_BYTES, &store->cells);
    MPI_Type_commit(&store->cells);
    MPI_Type_free(&all);
    for (int c = 0; c < edge; c++)
        MPI_Type_free(&cell_types[c]);
    free(cell_types);
    free(lengths);
    free(places);
}

static void open_full(Store *store, bool writing)
{
    make_types(store);
    mpi_open(store, writing, store->point, store->cells);
}

static void write_full(Store *store, int dump)
{
    MPI_Status status;
    int points = (int)store->domain->points;
    int code = MPI_File_write_at_all(store->file, (MPI_Offset)dump * points, store->buffer, points,
                                     store->point, &status);
    mpi_moved(store, code, &status, store->point, points, "write");
}

static void read_full(Store *store, int dump)
{
    MPI_Status status;
    int points = (int)store->domain->points;
    int code = MPI_File_read_at_all(store->file, (MPI_Offset)dump * points, store->buffer, points,
                                    store->point, &status);
    mpi_moved(store, code, &status, store->point, points, "read");
}

static void close_full(Store *store)
{
    mpi_close(store);
    MPI_Type_free(&store->cells);
    MPI_Type_free(&store->point);
}

const Method METHOD_FULL = {"full", "FULL MPI-IO", false, open_full, write_full, read_full, close_full};
