/* The explicit part of a time step: rhs = dt * (forcing + L_x(u) + L_y(u) + L_z(u)) on the interior points of
 * the grid. */
#ifndef BTIO_RHS_H
#define BTIO_RHS_H

#include "exact.h"
#include "exchange.h"

/* Computes rhs; the ghost points of u must be filled. */
void compute_rhs(const Domain *domain, double dt);

/* Sets the forcing for which the exact solution is stationary: minus the discrete operator applied to it.
 * Leaves the exact solution in u. Collective. */
void compute_forcing(const Domain *domain, const Exact *exact, const Exchange *exchange);

#endif
