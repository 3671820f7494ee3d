/* The method simple: one independent write for each row of each cell. */
#include "store.h"

static void open_simple(Store *store, bool writing) { mpi_open(store, writing, MPI_DOUBLE, MPI_DOUBLE); }

typedef int Transfer(MPI_File file, MPI_Offset offset, double *row, int count, MPI_Status *status);

static int write_row(MPI_File file, MPI_Offset offset, double *row, int count, MPI_Status *status)
{
    return MPI_File_write_at(file, offset, row, count, MPI_DOUBLE, status);
}

static int read_row(MPI_File file, MPI_Offset offset, double *row, int count, MPI_Status *status)
{
    return MPI_File_read_at(file, offset, row, count, MPI_DOUBLE, status);
}

static void each_row(Store *store, int dump, Transfer *transfer, const char *verb)
{
    const Domain *domain = store->domain;
    double *row = store->buffer;
    for (int c = 0; c < domain->edge; c++) {
        const Cell *cell = &domain->cells[c];
        int count = COMPONENTS * cell->size[0];
        for (int z = 0; z < cell->size[2]; z++)
            for (int y = 0; y < cell->size[1] && !store->trouble.any; y++, row += count) {
                MPI_Status status;
                MPI_Offset offset = (MPI_Offset)COMPONENTS * file_point(domain, cell, y, z, dump);
                int code = transfer(store->file, offset, row, count, &status);
                mpi_moved(store, code, &status, MPI_DOUBLE, count, verb);
            }
    }
}

static void write_simple(Store *store, int dump) { each_row(store, dump, write_row, "write"); }

static void read_simple(Store *store, int dump) { each_row(store, dump, read_row, "read"); }

const Method METHOD_SIMPLE = {"simple",     "SIMPLE MPI-IO", false,    open_simple,
                              write_simple, read_simple,     mpi_close};
