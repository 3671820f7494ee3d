/* Methods 2 and 3: a dump is one record of a PnetCDF variable. Method 2 moves each cell by a blocking call;
 * method 3 posts a nonblocking call for each cell, and one wait completes them. */
#include "pattern.h"

#ifdef HAVE_PNETCDF
#include <pnetcdf.h>
#include <stdlib.h>

enum { DIMENSIONS = 5 };

/* Names of the variable's dimensions, the slowest first. */
static const char *const NAMES[DIMENSIONS] = {"NUM_DUMPS", "Z", "Y", "X", "FIVE_DBL"};

static void note(Pattern *pattern, int code, const char *what)
{
    if (code != NC_NOERR)
        trouble_note(&pattern->trouble, "cannot %s %s: %s", what, pattern->path, ncmpi_strerror(code));
}

/* Makes the header as small as possible, and allows PnetCDF to swap bytes in the caller's buffer. */
static MPI_Info library_info(const Pattern *pattern)
{
    MPI_Info info;
    if (pattern->info == MPI_INFO_NULL)
        MPI_Info_create(&info);
    else
        MPI_Info_dup(pattern->info, &info);
    static const char *const defaults[][2] = {{"nc_var_align_size", "1"}, {"nc_in_place_swap", "enable"}};
    for (int i = 0; i < 2; i++) {
        int length, given;
        MPI_Info_get_valuelen(info, defaults[i][0], &length, &given);
        if (!given)
            MPI_Info_set(info, defaults[i][0], defaults[i][1]);
    }
    return info;
}

static void define(Pattern *pattern, MPI_Info info)
{
    const int *grid = pattern->domain->grid;
    MPI_Offset sizes[DIMENSIONS] = {NC_UNLIMITED, grid[2], grid[1], grid[0], COMPONENTS};
    int dimensions[DIMENSIONS], mode = NC_CLOBBER | NC_64BIT_DATA;
    int code = ncmpi_create(pattern->domain->comm, pattern->path, mode, info, &pattern->nc);
    note(pattern, code, "create");
    if (code != NC_NOERR)
        return;
    for (int d = DIMENSIONS - 1; d >= 0; d--)
        note(pattern, ncmpi_def_dim(pattern->nc, NAMES[d], sizes[d], &dimensions[d]),
             "define a dimension of");
    note(pattern, ncmpi_def_var(pattern->nc, "var", NC_DOUBLE, DIMENSIONS, dimensions, &pattern->variable),
         "define the variable of");
    note(pattern, ncmpi_enddef(pattern->nc), "write the header of");
}

static void inquire(Pattern *pattern, MPI_Info info)
{
    const int *grid = pattern->domain->grid;
    MPI_Offset wanted[DIMENSIONS] = {pattern->dumps, grid[2], grid[1], grid[0], COMPONENTS};
    int code = ncmpi_open(pattern->domain->comm, pattern->path, NC_NOWRITE, info, &pattern->nc);
    note(pattern, code, "open");
    if (code != NC_NOERR)
        return;
    note(pattern, ncmpi_inq_varid(pattern->nc, "var", &pattern->variable), "find the variable \"var\" of");
    for (int d = 0; d < DIMENSIONS; d++) {
        MPI_Offset found = 0;
        int dimension;
        code = ncmpi_inq_dimid(pattern->nc, NAMES[d], &dimension);
        if (code == NC_NOERR)
            code = ncmpi_inq_dimlen(pattern->nc, dimension, &found);
        note(pattern, code, "find a dimension of");
        if (d == 0 ? found < wanted[d] : found != wanted[d])
            trouble_note(&pattern->trouble, "%s has %s = %lld, %lld is asked for", pattern->path, NAMES[d],
                         (long long)found, (long long)wanted[d]);
    }
}

static void open_pnetcdf(Pattern *pattern, bool writing)
{
    MPI_Info info = library_info(pattern), found;
    pattern->nc = -1;
    if (writing)
        define(pattern, info);
    else
        inquire(pattern, info);
    MPI_Info_free(&info);
    if (pattern->nc < 0 || ncmpi_inq_file_info(pattern->nc, &found) != NC_NOERR)
        return;
    hints_of_info(&pattern->effective, found);
    MPI_Info_free(&found);
}

typedef int Call(Pattern *pattern, int cell, const MPI_Offset *start, const MPI_Offset *count);

static int put(Pattern *pattern, int cell, const MPI_Offset *start, const MPI_Offset *count)
{
    return ncmpi_put_vara_all(pattern->nc, pattern->variable, start, count, pattern_cell(pattern, cell), 1,
                              pattern->cells[cell]);
}

static int get(Pattern *pattern, int cell, const MPI_Offset *start, const MPI_Offset *count)
{
    return ncmpi_get_vara_all(pattern->nc, pattern->variable, start, count, pattern_cell(pattern, cell), 1,
                              pattern->cells[cell]);
}

static int post_put(Pattern *pattern, int cell, const MPI_Offset *start, const MPI_Offset *count)
{
    return ncmpi_iput_vara(pattern->nc, pattern->variable, start, count, pattern_cell(pattern, cell), 1,
                           pattern->cells[cell], &pattern->requests[cell]);
}

static int post_get(Pattern *pattern, int cell, const MPI_Offset *start, const MPI_Offset *count)
{
    return ncmpi_iget_vara(pattern->nc, pattern->variable, start, count, pattern_cell(pattern, cell), 1,
                           pattern->cells[cell], &pattern->requests[cell]);
}

static void each_cell(Pattern *pattern, int dump, Call *call, const char *what)
{
    const Domain *domain = pattern->domain;
    double begun = MPI_Wtime();
    for (int c = 0; c < domain->edge; c++) {
        const Cell *cell = &domain->cells[c];
        MPI_Offset start[DIMENSIONS] = {dump, cell->low[2], cell->low[1], cell->low[0], 0};
        MPI_Offset count[DIMENSIONS] = {1, cell->size[2], cell->size[1], cell->size[0], COMPONENTS};
        note(pattern, call(pattern, c, start, count), what);
    }
    pattern->post_seconds += MPI_Wtime() - begun;
}

static void move_blocking(Pattern *pattern, int dump, bool writing)
{
    each_cell(pattern, dump, writing ? put : get, writing ? "write" : "read");
    pattern->calls += pattern->domain->edge;
}

/* Moves a dump by non-blocking calls. One wait performs all posted requests, so it counts as one data call.
 */
static void move_nonblocking(Pattern *pattern, int dump, bool writing)
{
    int edge = pattern->domain->edge, *codes = allocate(edge, sizeof *codes);
    const char *what = writing ? "write" : "read";
    each_cell(pattern, dump, writing ? post_put : post_get, what);
    double begun = MPI_Wtime();
    note(pattern, ncmpi_wait_all(pattern->nc, edge, pattern->requests, codes), what);
    pattern->wait_seconds += MPI_Wtime() - begun;
    for (int c = 0; c < edge; c++)
        note(pattern, codes[c], what);
    pattern->calls++;
    free(codes);
}

static void close_pnetcdf(Pattern *pattern)
{
    if (pattern->nc >= 0)
        note(pattern, ncmpi_close(pattern->nc), "close");
}

const PatternMethod PATTERN_PNETCDF = {
    "pnetcdf",     "2",           "Parallel netCDF blocking I/O", "btio.nc", false, open_pnetcdf,
    move_blocking, close_pnetcdf,
};
const PatternMethod PATTERN_NONBLOCKING = {
    "pnetcdf-nonblocking", "3",           "Parallel netCDF non-blocking I/O", "btio.nc", false, open_pnetcdf,
    move_nonblocking,      close_pnetcdf,
};
#else
const PatternMethod PATTERN_PNETCDF = {.name = "pnetcdf", .number = "2"};
const PatternMethod PATTERN_NONBLOCKING = {.name = "pnetcdf-nonblocking", .number = "3"};
#endif
