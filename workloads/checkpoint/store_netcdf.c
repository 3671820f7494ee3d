/* netCDF-4 files: parallel when they are shared, serial when each writer has its own. */
#include "store.h"

#ifdef HAVE_NETCDF

#include <mpi.h>
#include <netcdf.h>
#include <netcdf_par.h>

enum { DIMENSIONS = 3 };

static bool good(Store *store, int code, const char *what)
{
    if (code != NC_NOERR)
        trouble_note(&store->trouble, "cannot %s %s: %s", what, store->path, nc_strerror(code));
    return code == NC_NOERR;
}

static int variable_name(int array, char name[NC_MAX_NAME + 1])
{
    return snprintf(name, NC_MAX_NAME + 1, "VAR%03d", array + 1);
}

static bool define_variable(Store *store, int array, const int *dimensions)
{
    const Problem *problem = store->problem;
    const Cube *cube = store->cube;
    char name[NC_MAX_NAME + 1];
    int variable;
    int writers_of_file = problem->split ? 1 : problem->io_ranks;
    const size_t chunk[DIMENSIONS] = {(size_t)store->levels,
                                      (size_t)(store->file_latitudes / writers_of_file), (size_t)cube->edge};
    variable_name(array, name);
    return good(store, nc_def_var(store->id, name, NC_FLOAT, DIMENSIONS, dimensions, &variable),
                "define a variable of") &&
           (problem->no_chunking ||
            good(store, nc_def_var_chunking(store->id, variable, NC_CHUNKED, chunk), "set the chunks of")) &&
           good(store, nc_def_var_fill(store->id, variable, NC_NOFILL, NULL), "define a variable of");
}

static void define(Store *store)
{
    const Cube *cube = store->cube;
    int dimensions[DIMENSIONS];
    bool defined = good(store, nc_def_dim(store->id, "lon", (size_t)cube->edge, &dimensions[2]),
                        "define a dimension of") &&
                   good(store, nc_def_dim(store->id, "lat", (size_t)store->file_latitudes, &dimensions[1]),
                        "define a dimension of") &&
                   good(store, nc_def_dim(store->id, "lev", (size_t)cube->levels, &dimensions[0]),
                        "define a dimension of");
    for (int array = 0; defined && array < store->problem->arrays; array++)
        defined = define_variable(store, array, dimensions);
    if (defined)
        good(store, nc_enddef(store->id), "write the header of");
}

/* Checks the size, because a file of another size would be read without an error. */
static void check_shape(Store *store)
{
    static const char *const names[DIMENSIONS] = {"lev", "lat", "lon"};
    const Cube *cube = store->cube;
    const size_t expected[DIMENSIONS] = {(size_t)cube->levels, (size_t)store->file_latitudes,
                                         (size_t)cube->edge};
    for (int d = 0; d < DIMENSIONS; d++) {
        int id;
        size_t length;
        if (!good(store, nc_inq_dimid(store->id, names[d], &id), "find a dimension of") ||
            !good(store, nc_inq_dimlen(store->id, id, &length), "find a dimension of"))
            return;
        if (length != expected[d])
            trouble_note(&store->trouble,
                         "%s has %zu in dimension %s, not %zu: the run that wrote the file had another "
                         "IM_WORLD, LM, SPLIT_FILE or NUM_WRITERS",
                         store->path, length, names[d], expected[d]);
    }
}

static int open_file(Store *store, bool writing)
{
    if (store->problem->split)
        return writing ? nc_create(store->path, NC_NETCDF4 | NC_CLOBBER, &store->id)
                       : nc_open(store->path, NC_NOWRITE, &store->id);
    return writing
               ? nc_create_par(store->path, NC_NETCDF4 | NC_CLOBBER, store->cube->io, store->info, &store->id)
               : nc_open_par(store->path, NC_NOWRITE, store->cube->io, store->info, &store->id);
}

/* Ends the job after a failed write to a shared file: if one writer fails within a collective call, the
 * others wait in that call for ever. */
static void abandon_if_shared(const Store *store, bool writing)
{
    if (store->trouble.any && writing && !store->problem->split)
        store_abandon(store);
}

static void open_netcdf(Store *store, bool writing)
{
    store->id = -1;
    if (!good(store, open_file(store, writing), writing ? "create" : "open"))
        return;
    if (writing)
        define(store);
    else
        check_shape(store);
    abandon_if_shared(store, writing);
    for (int variable = 0; store->collective && !store->problem->split && variable < store->problem->arrays;
         variable++)
        good(store, nc_var_par_access(store->id, variable, NC_COLLECTIVE), "choose collective access to");
}

static void move_netcdf(Store *store, bool writing, int array, int level, float *slab)
{
    char name[NC_MAX_NAME + 1];
    int variable;
    const size_t start[DIMENSIONS] = {(size_t)level, (size_t)store->latitudes.first, 0};
    const size_t count[DIMENSIONS] = {(size_t)store->levels, (size_t)store->latitudes.size,
                                      (size_t)store->cube->edge};
    variable_name(array, name);
    if (store->id < 0 || !good(store, nc_inq_varid(store->id, name, &variable), "find a variable of"))
        return;
    good(store,
         writing ? nc_put_vara_float(store->id, variable, start, count, slab)
                 : nc_get_vara_float(store->id, variable, start, count, slab),
         writing ? "write" : "read");
    abandon_if_shared(store, writing && store->collective);
}

static void close_netcdf(Store *store)
{
    if (store->id >= 0)
        good(store, nc_close(store->id), "close");
    abandon_if_shared(store, store->writing);
}

const Format FORMAT_NETCDF = {true, false, "nc4", open_netcdf, move_netcdf, close_netcdf};

#else

const Format FORMAT_NETCDF = {.present = false, .suffix = "nc4"};

#endif
