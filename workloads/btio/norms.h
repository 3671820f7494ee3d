/* Root-mean-square norms over the grid, one for each component; the divisor is the number of interior points.
 */
#ifndef BTIO_NORMS_H
#define BTIO_NORMS_H

#include "exact.h"

/* Computes the norm of u minus the exact solution, over all points. Collective; every rank gets the
 * result. */
void error_norm(const Domain *domain, const Exact *exact, double norm[COMPONENTS]);

/* Computes the norm of the field that `field_of` selects, over the interior points, divided by `divisor`.
 * Collective. */
typedef double *FieldOf(const Cell *cell);
FieldOf rhs_of, forcing_of;
void interior_norm(const Domain *domain, FieldOf *field_of, double divisor, double norm[COMPONENTS]);

#endif
