#include <stdlib.h>

#include "fail.h"
#include "solve.h"

/* The values by which a row contributes to its neighbours: the flux, and the function whose second difference
 * is taken. */
typedef struct Terms {
    lanes flux[COMPONENTS], second[COMPONENTS];
} Terms;

static void terms_of(const lanes u[COMPONENTS], double dissipation, Terms *terms)
{
    Primitive p;
    primitive_of(u, &p);
    lanes pressure = GAMMA_1 * (u[4] - u[0] * p.kinetic);
    terms->flux[0] = u[1];
    terms->flux[1] = u[1] * p.normal + pressure;
    terms->flux[2] = u[2] * p.normal;
    terms->flux[3] = u[3] * p.normal;
    terms->flux[4] = (u[4] + pressure) * p.normal;
    terms->second[0] = dissipation * u[0];
    terms->second[1] = NORMAL_VISCOSITY * p.normal + dissipation * u[1];
    terms->second[2] = VISCOSITY * p.across[0] + dissipation * u[2];
    terms->second[3] = VISCOSITY * p.across[1] + dissipation * u[3];
    terms->second[4] = SHEAR_HEATING * p.kinetic + NORMAL_HEATING * p.normal * p.normal +
                       CONDUCTIVITY * p.energy + dissipation * u[4];
}

/* Weights of the fourth difference at global index g of `points`: one-sided next to the boundary. */
static void fourth_difference(int g, int points, double weight[5])
{
    int from_edge = g < points - 1 - g ? g : points - 1 - g;
    bool low = g == from_edge;
    double centre = from_edge == 1 ? 5.0 : 6.0;
    double near = from_edge == 1 ? 0.0 : -4.0, far = from_edge <= 2 ? 0.0 : 1.0;
    weight[0] = low ? far : 1.0;
    weight[1] = low ? near : -4.0;
    weight[2] = centre;
    weight[3] = low ? -4.0 : near;
    weight[4] = low ? 1.0 : far;
}

/* Computes out = scale * (out + L(u)) for one row; u[0..4] are the rows g-2..g+2. */
static void add_row(const lanes (*u)[COMPONENTS], const Terms *before, const Terms *here, const Terms *after,
                    const Metric *metric, const double weight[5], double scale, lanes out[COMPONENTS])
{
    for (int m = 0; m < COMPONENTS; m++) {
        lanes first = after->flux[m] - before->flux[m];
        lanes second = after->second[m] - 2.0 * here->second[m] + before->second[m];
        lanes fourth = weight[0] * u[0][m] + weight[1] * u[1][m] + weight[2] * u[2][m] + weight[3] * u[3][m] +
                       weight[4] * u[4][m];
        out[m] = scale * (out[m] - metric->inverse_2h * first + metric->inverse_h2 * second -
                          FOURTH_DISSIPATION * fourth);
    }
}

/* Adds the terms of one pencil; `u` begins GHOSTS rows before `out`. */
static void add_line(const lanes (*u)[COMPONENTS], const Metric *metric, const double (*weight)[5],
                     double scale, int rows, lanes (*out)[COMPONENTS])
{
    Terms terms[3];
    terms_of(u[GHOSTS - 1], metric->dissipation, &terms[0]);
    terms_of(u[GHOSTS], metric->dissipation, &terms[1]);
    for (int row = 0; row < rows; row++) {
        terms_of(u[row + GHOSTS + 1], metric->dissipation, &terms[(row + 2) % 3]);
        add_row(u + row, &terms[row % 3], &terms[(row + 1) % 3], &terms[(row + 2) % 3], metric, weight[row],
                scale, out[row]);
    }
}

/* Computes rhs = scale * (base + L(u)) for all lines of a cell along one direction. */
static void add_direction(const Domain *domain, const Cell *cell, int direction, double *base, double scale)
{
    const Sweep *sweep = &SWEEPS[direction];
    int first = cell->begin[direction], rows = cell->end[direction] - first;
    Metric metric = metric_of(direction, domain->grid[direction]);
    lanes(*u)[COMPONENTS] = allocate(rows + 2 * GHOSTS, sizeof *u);
    lanes(*out)[COMPONENTS] = allocate(rows, sizeof *out);
    double(*weight)[5] = allocate(rows, sizeof *weight);
    for (int row = 0; row < rows; row++)
        fourth_difference(cell->low[direction] + first + row, domain->grid[direction], weight[row]);
    int pencils = pencil_count(cell, sweep);
    for (int k = 0; k < pencils; k++) {
        Place place = pencil_place(cell, sweep, k);
        pencil_load(cell, sweep, place, cell->u, first - GHOSTS, rows + 2 * GHOSTS, u);
        pencil_load(cell, sweep, place, base, first, rows, out);
        Place following = pencil_place(cell, sweep, k + 1);
        for (int row = 0; row < rows; row++) {
            pencil_prefetch(cell, sweep, following, cell->u, first + row);
            pencil_prefetch(cell, sweep, following, base, first + row);
        }
        add_line(u, &metric, weight, scale, rows, out);
        pencil_store(cell, sweep, place, cell->rhs, first, rows, out);
    }
    free(u);
    free(out);
    free(weight);
}

void compute_rhs(const Domain *domain, double dt)
{
    for (int c = 0; c < domain->edge; c++) {
        const Cell *cell = &domain->cells[c];
        add_direction(domain, cell, 0, cell->forcing, 1.0);
        add_direction(domain, cell, 1, cell->rhs, 1.0);
        add_direction(domain, cell, 2, cell->rhs, dt);
    }
}

void compute_forcing(const Domain *domain, const Exact *exact, const Exchange *exchange)
{
    domain_clear(domain);
    fill_exact(domain, exact);
    exchange_ghosts(exchange, domain);
    compute_rhs(domain, 1.0);
    for (int c = 0; c < domain->edge; c++) {
        const Cell *cell = &domain->cells[c];
        for (int m = 0; m < COMPONENTS; m++)
            for (int z = cell->begin[2]; z < cell->end[2]; z++)
                for (int y = cell->begin[1]; y < cell->end[1]; y++) {
                    const double *from = point_of(cell, cell->rhs + m * cell->component, 0, y, z);
                    double *to = point_of(cell, cell->forcing + m * cell->component, 0, y, z);
                    for (int x = cell->begin[0]; x < cell->end[0]; x++)
                        to[x] = -from[x];
                }
    }
}
