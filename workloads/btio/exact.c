#include "exact.h"

#include "fail.h"

#include <string.h>

/* Coefficients of the exact solution, for each component: the constant, then for each power 1 to 4 the
 * coefficients of x, y and z. */
// clang-format off
static const double COEFFICIENTS[COMPONENTS][13] = {
    {2.0, 0.0, 0.0, 4.0, 5.0, 3.0, 0.5, 0.02, 0.01, 0.03, 0.5, 0.4, 0.3},
    {1.0, 0.0, 0.0, 0.0, 1.0, 2.0, 3.0, 0.01, 0.03, 0.02, 0.4, 0.3, 0.5},
    {2.0, 2.0, 0.0, 0.0, 0.0, 2.0, 3.0, 0.04, 0.03, 0.05, 0.3, 0.5, 0.4},
    {2.0, 2.0, 0.0, 0.0, 0.0, 2.0, 3.0, 0.03, 0.05, 0.04, 0.2, 0.1, 0.3},
    {5.0, 4.0, 3.0, 2.0, 0.1, 0.4, 0.3, 0.05, 0.04, 0.03, 0.1, 0.3, 0.2},
};
// clang-format on

static double coordinate(int index, int points) { return (double)index / (points - 1); }

void exact_make(Exact *exact, const int grid[3])
{
    for (int d = 0; d < 3; d++) {
        exact->term[d] = allocate(grid[d], sizeof *exact->term[d]);
        for (int g = 0; g < grid[d]; g++) {
            double x = coordinate(g, grid[d]);
            for (int m = 0; m < COMPONENTS; m++) {
                const double *c = COEFFICIENTS[m] + 1 + d;
                exact->term[d][g][m] = x * (c[0] + x * (c[3] + x * (c[6] + x * c[9])));
            }
        }
    }
}

void exact_at(const Exact *exact, int x, int y, int z, double u[COMPONENTS])
{
    for (int m = 0; m < COMPONENTS; m++)
        u[m] = COEFFICIENTS[m][0] + exact->term[0][x][m] + exact->term[1][y][m] + exact->term[2][z][m];
}

/* Computes NPB's initial guess: with P_d the linear interpolation between the two faces across direction d,
 * Px + Py + Pz - Px Py - Px Pz - Py Pz + Px Py Pz. As in NPB, these are products of the solution values
 * themselves. */
static void guess_at(const Exact *exact, const int grid[3], const int at[3], double u[COMPONENTS])
{
    double blend[3][COMPONENTS];
    for (int d = 0; d < 3; d++) {
        int near[3] = {at[0], at[1], at[2]}, far[3] = {at[0], at[1], at[2]};
        double low[COMPONENTS], high[COMPONENTS], x = coordinate(at[d], grid[d]);
        near[d] = 0;
        far[d] = grid[d] - 1;
        exact_at(exact, near[0], near[1], near[2], low);
        exact_at(exact, far[0], far[1], far[2], high);
        for (int m = 0; m < COMPONENTS; m++)
            blend[d][m] = x * high[m] + (1.0 - x) * low[m];
    }
    for (int m = 0; m < COMPONENTS; m++) {
        double a = blend[0][m], b = blend[1][m], c = blend[2][m];
        u[m] = a + b + c - a * b - a * c - b * c + a * b * c;
    }
}

static bool on_boundary(const int grid[3], const int at[3])
{
    bool edge = false;
    for (int d = 0; d < 3; d++)
        edge = edge || at[d] == 0 || at[d] == grid[d] - 1;
    return edge;
}

static void fill(const Domain *domain, const Exact *exact, bool guess)
{
    for (int c = 0; c < domain->edge; c++) {
        const Cell *cell = &domain->cells[c];
        for (int z = 0; z < cell->size[2]; z++)
            for (int y = 0; y < cell->size[1]; y++)
                for (int x = 0; x < cell->size[0]; x++) {
                    int at[3] = {cell->low[0] + x, cell->low[1] + y, cell->low[2] + z};
                    double value[COMPONENTS], *to = point_of(cell, cell->u, x, y, z);
                    if (guess && !on_boundary(domain->grid, at))
                        guess_at(exact, domain->grid, at, value);
                    else
                        exact_at(exact, at[0], at[1], at[2], value);
                    for (int m = 0; m < COMPONENTS; m++)
                        to[m * cell->component] = value[m];
                }
    }
}

void fill_exact(const Domain *domain, const Exact *exact) { fill(domain, exact, false); }

void fill_initial(const Domain *domain, const Exact *exact) { fill(domain, exact, true); }
