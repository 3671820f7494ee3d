#include "domain.h"

#include "fail.h"
#include "physics.h"

int square_edge(int ranks)
{
    int edge = 1;
    while (edge * edge < ranks)
        edge++;
    return edge * edge == ranks ? edge : 0;
}

static int wrap(int value, int edge) { return ((value % edge) + edge) % edge; }

/* Sets the size of a cell and its place in the grid. The first points % edge cells along a direction are one
 * point longer. */
static void place(Cell *cell, const int grid[3], int edge)
{
    for (int d = 0; d < 3; d++) {
        int at = cell->coordinate[d], short_size = grid[d] / edge, longer = grid[d] % edge;
        cell->size[d] = short_size + (at < longer);
        cell->low[d] = at * short_size + (at < longer ? at : longer);
        cell->begin[d] = at == 0;
        cell->end[d] = cell->size[d] - (at == edge - 1);
    }
}

/* Sets how a cell lies in memory. The first interior point of each row is aligned to a vector. A row's five
 * components are neighbours, so that a step along y or z touches one page; rows are an odd number of vectors
 * long to spread over the cache's sets. */
static void lay_out(Cell *cell)
{
    ptrdiff_t front = LANES - cell->begin[0];
    ptrdiff_t vectors = (front + cell->size[0] + GHOSTS + LANES - 1) / LANES;
    cell->stride[0] = 1;
    cell->component = (vectors | 1) * LANES;
    cell->stride[1] = cell->component * COMPONENTS;
    cell->stride[2] = cell->stride[1] * (cell->size[1] + 2 * GHOSTS);
    cell->origin = front + GHOSTS * (cell->stride[1] + cell->stride[2]);
    /* The memory has room for LANES more doubles, because the last vector of a row may reach past the end. */
    cell->doubles = cell->stride[2] * (cell->size[2] + 2 * GHOSTS) + LANES * cell->stride[1];
}

static double *new_field(const Cell *cell)
{
    double *all = allocate((size_t)cell->doubles, sizeof(double));
    return all + cell->origin;
}

static void make_cells(Domain *domain)
{
    int edge = domain->edge, i = domain->rank % edge, j = domain->rank / edge;
    domain->cells = allocate(edge, sizeof *domain->cells);
    domain->slice = allocate(3 * edge, sizeof *domain->slice);
    for (int c = 0; c < edge; c++) {
        Cell *cell = &domain->cells[c];
        *cell = (Cell){.coordinate = {wrap(i + c, edge), wrap(j - c, edge), c}};
        place(cell, domain->grid, edge);
        lay_out(cell);
        for (int d = 0; d < 3; d++)
            domain->slice[d * edge + cell->coordinate[d]] = c;
        domain->points += (long long)cell->size[0] * cell->size[1] * cell->size[2];
    }
}

void domain_lay_out(Domain *domain, const int grid[3], MPI_Comm comm)
{
    *domain = (Domain){.comm = comm, .grid = {grid[0], grid[1], grid[2]}};
    MPI_Comm_rank(comm, &domain->rank);
    MPI_Comm_size(comm, &domain->ranks);
    int edge = domain->edge = square_edge(domain->ranks);
    static const int step_i[3] = {1, 0, -1}, step_j[3] = {0, 1, 1};
    int i = domain->rank % edge, j = domain->rank / edge;
    for (int d = 0; d < 3; d++) {
        domain->after[d] = wrap(i + step_i[d], edge) + edge * wrap(j + step_j[d], edge);
        domain->before[d] = wrap(i - step_i[d], edge) + edge * wrap(j - step_j[d], edge);
    }
    make_cells(domain);
}

void domain_make(Domain *domain, const int grid[3], bool solver, MPI_Comm comm)
{
    domain_lay_out(domain, grid, comm);
    for (int c = 0; c < domain->edge; c++) {
        Cell *cell = &domain->cells[c];
        cell->u = new_field(cell);
        cell->rhs = solver ? new_field(cell) : NULL;
        cell->forcing = solver ? new_field(cell) : NULL;
    }
}

Cell *domain_slice(const Domain *domain, int direction, int at)
{
    return &domain->cells[domain->slice[direction * domain->edge + at]];
}

void domain_clear(const Domain *domain)
{
    for (int c = 0; c < domain->edge; c++) {
        Cell *cell = &domain->cells[c];
        double *all = cell->u - cell->origin;
        for (ptrdiff_t k = 0; k < cell->doubles; k++)
            all[k] = 1.0;
    }
}
