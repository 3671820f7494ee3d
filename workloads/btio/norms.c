#include <math.h>

#include "exact.h"

/* Sums the squares over all ranks, divides by the number of interior points in each direction, one direction
 * after the other as in NPB, and takes the square root. */
static void finish(const Domain *domain, const double sum[COMPONENTS], double norm[COMPONENTS])
{
    MPI_Allreduce(sum, norm, COMPONENTS, MPI_DOUBLE, MPI_SUM, domain->comm);
    for (int m = 0; m < COMPONENTS; m++) {
        for (int d = 0; d < 3; d++)
            norm[m] /= domain->grid[d] - 2;
        norm[m] = sqrt(norm[m]);
    }
}

void error_norm(const Domain *domain, const Exact *exact, double norm[COMPONENTS])
{
    double sum[COMPONENTS] = {0.0};
    for (int c = 0; c < domain->edge; c++) {
        const Cell *cell = &domain->cells[c];
        for (int z = 0; z < cell->size[2]; z++)
            for (int y = 0; y < cell->size[1]; y++)
                for (int x = 0; x < cell->size[0]; x++) {
                    double expected[COMPONENTS];
                    const double *u = point_of(cell, cell->u, x, y, z);
                    exact_at(exact, cell->low[0] + x, cell->low[1] + y, cell->low[2] + z, expected);
                    for (int m = 0; m < COMPONENTS; m++) {
                        double error = u[m * cell->component] - expected[m];
                        sum[m] += error * error;
                    }
                }
    }
    finish(domain, sum, norm);
}

double *rhs_of(const Cell *cell) { return cell->rhs; }

double *forcing_of(const Cell *cell) { return cell->forcing; }

void interior_norm(const Domain *domain, FieldOf *field_of, double divisor, double norm[COMPONENTS])
{
    double sum[COMPONENTS] = {0.0};
    for (int c = 0; c < domain->edge; c++) {
        const Cell *cell = &domain->cells[c];
        for (int m = 0; m < COMPONENTS; m++)
            for (int z = cell->begin[2]; z < cell->end[2]; z++)
                for (int y = cell->begin[1]; y < cell->end[1]; y++) {
                    const double *row = point_of(cell, field_of(cell) + m * cell->component, 0, y, z);
                    for (int x = cell->begin[0]; x < cell->end[0]; x++)
                        sum[m] += row[x] * row[x];
                }
    }
    finish(domain, sum, norm);
    for (int m = 0; m < COMPONENTS; m++)
        norm[m] /= divisor;
}
