/* The method fortran: direct access with records of one grid point, 40 bytes each, in one shared file. */
#include "store.h"

typedef void Transfer(Store *store, double *point, long long offset);

static void write_point(Store *store, double *point, long long offset)
{
    posix_write(store, point, POINT_BYTES, offset);
}

static void read_point(Store *store, double *point, long long offset)
{
    posix_read(store, point, POINT_BYTES, offset);
}

static void each_point(Store *store, int dump, Transfer *transfer)
{
    const Domain *domain = store->domain;
    double *point = store->buffer;
    for (int c = 0; c < domain->edge; c++) {
        const Cell *cell = &domain->cells[c];
        for (int z = 0; z < cell->size[2]; z++)
            for (int y = 0; y < cell->size[1]; y++) {
                long long record = file_point(domain, cell, y, z, dump);
                for (int x = 0; x < cell->size[0]; x++, point += COMPONENTS)
                    transfer(store, point, (record + x) * POINT_BYTES);
            }
    }
}

static void write_fortran(Store *store, int dump) { each_point(store, dump, write_point); }

static void read_fortran(Store *store, int dump) { each_point(store, dump, read_point); }

const Method METHOD_FORTRAN = {"fortran",     "FORTRAN IO", false,      posix_open,
                               write_fortran, read_fortran, posix_close};
