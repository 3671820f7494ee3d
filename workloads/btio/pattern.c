#include "pattern.h"

#include <math.h>
#include <stdlib.h>

const char PATTERN_METHOD_NAMES[] = "0 mpi-collective, 1 mpi-independent, 2 pnetcdf, 3 pnetcdf-nonblocking";

static const PatternMethod *const METHODS[] = {&PATTERN_MPI_COLLECTIVE, &PATTERN_MPI_INDEPENDENT,
                                               &PATTERN_PNETCDF, &PATTERN_NONBLOCKING};

const PatternMethod *pattern_method_named(const char *name)
{
    for (size_t i = 0; i < sizeof METHODS / sizeof METHODS[0]; i++)
        if (strcmp(METHODS[i]->name, name) == 0 || strcmp(METHODS[i]->number, name) == 0)
            return METHODS[i];
    return NULL;
}

static size_t cell_points(const Pattern *pattern)
{
    return (size_t)pattern->padded[0] * pattern->padded[1] * pattern->padded[2];
}

double *pattern_cell(const Pattern *pattern, int cell)
{
    return pattern->field + cell * cell_points(pattern) * COMPONENTS;
}

static void make_types(Pattern *pattern)
{
    const Domain *domain = pattern->domain;
    int edge = domain->edge;
    int *lengths = allocate(edge, sizeof *lengths);
    MPI_Aint *places = allocate(edge, sizeof *places);
    pattern->cells = allocate(edge, sizeof *pattern->cells);
    MPI_Type_contiguous(COMPONENTS, MPI_DOUBLE, &pattern->point);
    for (int c = 0; c < edge; c++) {
        const Cell *cell = &domain->cells[c];
        int whole[3] = {pattern->padded[2], pattern->padded[1], pattern->padded[0]};
        int size[3] = {cell->size[2], cell->size[1], cell->size[0]};
        int start[3] = {GHOSTS, GHOSTS, GHOSTS};
        MPI_Type_create_subarray(3, whole, size, start, MPI_ORDER_C, pattern->point, &pattern->cells[c]);
        MPI_Type_commit(&pattern->cells[c]);
        lengths[c] = 1;
        places[c] = (MPI_Aint)(c * cell_points(pattern) * COMPONENTS * sizeof(double));
    }
    MPI_Type_create_struct(edge, lengths, places, pattern->cells, &pattern->all);
    MPI_Type_commit(&pattern->all);
    free(lengths);
    free(places);
}

void pattern_make(Pattern *pattern, const PatternConfig *config, const Domain *domain)
{
    *pattern = (Pattern){
        .method = pattern_method_named(config->method),
        .domain = domain,
        .dumps = config->dumps,
        .per_cell = config->per_cell,
        .info = hints_info(&config->hints),
        .file = MPI_FILE_NULL,
        .view = MPI_DATATYPE_NULL,
        .requests = allocate(domain->edge, sizeof(int)),
    };
    int length =
        snprintf(pattern->path, sizeof pattern->path, "%s/%s", config->directory, pattern->method->file);
    if (length >= (int)sizeof pattern->path)
        trouble_note(&pattern->trouble, "--directory: the path is too long");
    if (domain->points > INT_MAX / POINT_BYTES)
        trouble_note(&pattern->trouble,
                     "%lld grid points on a rank: at most %d go into one call; use more ranks",
                     domain->points, INT_MAX / POINT_BYTES);
    fail_if_trouble(EXIT_USAGE, &pattern->trouble, domain->comm);
    for (int d = 0; d < 3; d++)
        pattern->padded[d] = domain->grid[d] / domain->edge + 1 + 2 * GHOSTS;
    pattern->field = allocate(domain->edge * cell_points(pattern), POINT_BYTES);
    make_types(pattern);
}

void pattern_free(Pattern *pattern)
{
    for (int c = 0; c < pattern->domain->edge; c++)
        MPI_Type_free(&pattern->cells[c]);
    MPI_Type_free(&pattern->all);
    MPI_Type_free(&pattern->point);
    if (pattern->info != MPI_INFO_NULL)
        MPI_Info_free(&pattern->info);
    free(pattern->cells);
    free(pattern->requests);
    free(pattern->field);
}

typedef long long RowWork(double *row, int count, double first);

/* Calls `work` for each row of this rank's points, and passes the value that the row's first element has in
 * `dump`. Returns the sum of the results. */
static long long each_row(const Pattern *pattern, int dump, RowWork *work)
{
    const Domain *domain = pattern->domain;
    const int *padded = pattern->padded;
    double nx = domain->grid[0], ny = domain->grid[1], nz = domain->grid[2];
    long long sum = 0;
    for (int c = 0; c < domain->edge; c++) {
        const Cell *cell = &domain->cells[c];
        for (int z = 0; z < cell->size[2]; z++)
            for (int y = 0; y < cell->size[1]; y++) {
                size_t point = ((size_t)(z + GHOSTS) * padded[1] + y + GHOSTS) * padded[0] + GHOSTS;
                double at = cell->low[0] + nx * (cell->low[1] + y + ny * (cell->low[2] + z + nz * dump));
                sum += work(pattern_cell(pattern, c) + point * COMPONENTS, cell->size[0] * COMPONENTS,
                            at * COMPONENTS);
            }
    }
    return sum;
}

static long long fill_row(double *row, int count, double first)
{
    for (int i = 0; i < count; i++)
        row[i] = first + i;
    return 0;
}

static long long compare_row(double *row, int count, double first)
{
    long long wrong = 0;
    for (int i = 0; i < count; i++)
        wrong += row[i] != first + i;
    return wrong;
}

void pattern_fill(const Pattern *pattern, int dump) { each_row(pattern, dump, fill_row); }

long long pattern_differences(const Pattern *pattern, int dump)
{
    return each_row(pattern, dump, compare_row);
}

void pattern_spoil(const Pattern *pattern)
{
    size_t doubles = pattern->domain->edge * cell_points(pattern) * COMPONENTS;
    for (size_t i = 0; i < doubles; i++)
        pattern->field[i] = NAN;
}
