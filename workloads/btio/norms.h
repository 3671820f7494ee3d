/* Root-mean-square norms over the grid, one for each component; the divisor is the number of interior points.
 */
#ifndef BTIO_NORMS_H
#define BTIO_NORMS_H

#include "exact.h"

/* Of u minus the exact solution, on all points. Collective; every rank gets the result. */
void error_norm(const Domain *domain, const Exact *exact, double norm[COMPONENTS]);

/* Of a field that `field_of` chooses, on the interior points, divided by `divisor`. Collective. */
typedef double *FieldOf(const Cell *cell);
FieldOf rhs_of, forcing_of;
void interior_norm(const Domain *domain, FieldOf *field_of, double divisor, double norm[COMPONENTS]);

#endif
