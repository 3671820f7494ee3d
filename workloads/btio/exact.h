/* The exact solution of BT's test problem, the initial guess, and the constants of the equations.
 *
 * u*_m(x,y,z) is a quartic in each coordinate without cross terms (RNR-94-007): a sum of a constant and one
 * term for each direction, which are tabulated once. */
#ifndef BTIO_EXACT_H
#define BTIO_EXACT_H

#include "domain.h"

typedef struct Exact {
    double (*term[3])[COMPONENTS]; /* One array per direction, with an entry for each grid point. */
} Exact;

void exact_make(Exact *exact, const int grid[3]);

/* Computes the exact solution at a global grid point. */
void exact_at(const Exact *exact, int x, int y, int z, double u[COMPONENTS]);

/* Fills u with the exact solution on every own point. */
void fill_exact(const Domain *domain, const Exact *exact);

/* Fills u with the initial guess inside the grid and the exact solution on its boundary. */
void fill_initial(const Domain *domain, const Exact *exact);

/* Root-mean-square norms over the grid, one for each component; the divisor is the number of interior points.
 */

/* Computes the norm of u minus the exact solution, over all points. Collective; every rank gets the
 * result. */
void error_norm(const Domain *domain, const Exact *exact, double norm[COMPONENTS]);

/* Computes the norm of the field that `field_of` selects, over the interior points, divided by `divisor`.
 * Collective. */
typedef double *FieldOf(const Cell *cell);
FieldOf rhs_of, forcing_of;
void interior_norm(const Domain *domain, FieldOf *field_of, double divisor, double norm[COMPONENTS]);

#endif
