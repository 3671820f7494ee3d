/* The implicit part: three sweeps of block-tridiagonal solves, rhs <- (I + dt D)^-1 rhs along x, then y, then
 * z. */
#ifndef BTIO_SOLVE_H
#define BTIO_SOLVE_H

#include "block.h"
#include "domain.h"

/* Memory that the sweeps share. */
typedef struct Solver {
    Row *rows;            /* eliminated rows that wait for the backward pass */
    Row *carry, *carried; /* [pencil] last row of a cell, sent on and received */
    lanes (*first)[COMPONENTS],
        (*next)[COMPONENTS];                  /* [pencil] first solution of a cell, sent back and received */
    Blocks *blocks;                           /* [3] */
    lanes (*u)[COMPONENTS], (*w)[COMPONENTS]; /* [row] one pencil */
} Solver;

void solver_make(Solver *solver, const Domain *domain);

/* Solves along one direction for all lines inside the grid. Collective. */
void solve_direction(const Solver *solver, const Domain *domain, int direction, double dt);

/* u += rhs on the interior points. */
void add_update(const Domain *domain);

#endif
