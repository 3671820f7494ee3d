/* The implicit part of a time step: three sweeps of block-tridiagonal solves, rhs <- (I + dt D)^-1 rhs along
 * x, then y, then z. */
#ifndef BTIO_SOLVE_H
#define BTIO_SOLVE_H

#include "domain.h"
#include "exact.h"
#include "physics.h"

/* The rows of the block-tridiagonal systems: 5x5 blocks in the frame of one line, for LANES lines at once.
 *
 *   lower_g w_{g-1} + (I + 2 N) w_g + upper_g w_{g+1} = r_g
 *   lower_g = -(T + N) at g-1,   upper_g = T - N at g+1
 *   T = dt/(2h) * Jacobian of the flux,   N = dt/h^2 * (Jacobian of the viscous function + d I)
 *
 * Many entries are zero; they are neither computed nor multiplied. */

/* Parts of the matrix to which a row's state contributes: T + N, I + 2 N and T - N of that row. */
typedef struct Blocks {
    lanes minus_lower[5][5], centre[5][5], upper[5][5];
} Blocks;

/* A row after elimination, w_g = r_g - C_g w_{g+1}: columns 0 to 4 hold C_g, and column 5 holds r_g. */
typedef lanes Row[5][6];

void blocks_of(const lanes u[COMPONENTS], const Metric *metric, double dt, Blocks *blocks);

/* Eliminates w_{g-1} from row g with the right-hand side r. */
void eliminate(const Blocks *before, const Blocks *here, const Blocks *after, const lanes r[COMPONENTS],
               const Row previous, Row row);

/* Computes w_g from the eliminated row and w_{g+1}. */
void substitute(const Row row, const lanes next[COMPONENTS], lanes w[COMPONENTS]);

/* Memory for the sweeps. A sweep processes pencils in batches: it eliminates a batch forward through all
 * cells and substitutes backward before the next batch, so that the eliminated rows are still in the
 * processor's cache. */
typedef struct Solver {
    int batch, batches;   /* Number of pencils in a batch, and number of batches that the largest cell needs;
                           * all ranks process that many. */
    int longest;          /* Number of rows of the longest cell. */
    Row *rows;            /* Rows that were eliminated, kept for the backward substitution. */
    Row *carry, *carried; /* For each pencil, a cell's last eliminated row: `carry` goes to the next cell,
                           * `carried` came from the previous one. */
    lanes (*first)[COMPONENTS],
        (*next)[COMPONENTS]; /* For each pencil, the solution at a cell's first row: `first` goes back to the
                              * previous cell, `next` came from the next one. */
    Blocks *blocks;          /* Matrix parts of three successive rows; row g is at index g modulo 3. */
    lanes (*u)[COMPONENTS], (*w)[COMPONENTS]; /* Rows of one pencil: the state, and the solution. */
} Solver;

/* Collective. Allocates the memory. */
void solver_make(Solver *solver, const Domain *domain);

/* Solves along one direction for all lines inside the grid. Collective. */
void solve_direction(const Solver *solver, const Domain *domain, int direction, double dt);

/* Adds rhs to u on the interior points. */
void add_update(const Domain *domain);

/* The explicit part of a time step: rhs = dt * (forcing + L_x(u) + L_y(u) + L_z(u)) on the interior points of
 * the grid. */

/* Computes rhs; the ghost points of u must be filled. */
void compute_rhs(const Domain *domain, double dt);

/* Sets the forcing for which the exact solution is stationary: minus the discrete operator applied to it.
 * Leaves the exact solution in u. Collective. */
void compute_forcing(const Domain *domain, const Exact *exact, const Exchange *exchange);

/* Pencils: LANES neighbouring lines of a cell along one direction, as contiguous vectors [row][component].
 *
 * A pencil's components are ordered (density, momentum along the line, two momenta across, energy), so that
 * the numerical kernels know one direction only. */

/* Directions of a sweep that solves along the lines of direction `along`. The lanes of a pencil are
 * neighbouring lines in direction `side`; pencils are layered in direction `layer`. */
typedef struct Sweep {
    int along, side, layer;
    int order[COMPONENTS]; /* For each place in a pencil's row, the number of the field's component that
                            * stands there. */
} Sweep;

extern const Sweep SWEEPS[3];

/* Place of a pencil in a cell: local indices of its first line. */
typedef struct Place {
    int side, layer;
} Place;

/* Return the number of pencils that cover the lines inside the grid, and the place of each. */
int pencil_count(const Cell *cell, const Sweep *sweep);
Place pencil_place(const Cell *cell, const Sweep *sweep, int index);

/* Loads rows [first, first + rows) along the line. Lanes beyond the interior get arbitrary values. */
void pencil_load(const Cell *cell, const Sweep *sweep, Place place, double *field, int first, int rows,
                 lanes (*out)[COMPONENTS]);

/* Prefetches data near `row` that the next load of this pencil needs, because the hardware cannot predict
 * steps across rows and planes. */
void pencil_prefetch(const Cell *cell, const Sweep *sweep, Place place, const double *field, int row);

/* Stores rows [first, first + rows) of a pencil into the field, without the lanes beyond the interior. */
void pencil_store(const Cell *cell, const Sweep *sweep, Place place, double *field, int first, int rows,
                  const lanes (*in)[COMPONENTS]);

#endif
