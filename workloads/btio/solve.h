/* The implicit part: three sweeps of block-tridiagonal solves, rhs <- (I + dt D)^-1 rhs along x, then y, then
 * z. */
#ifndef BTIO_SOLVE_H
#define BTIO_SOLVE_H

#include "block.h"
#include "domain.h"

/* Memory that the sweeps share. A sweep takes the pencils in batches. It eliminates a batch forward through
 * all cells and substitutes backward before it takes the next, so that the eliminated rows are still in the
 * processor's cache. */
typedef struct Solver {
    int batch, batches;   /* pencils of a batch; batches of the largest cell: the same on all ranks */
    int longest;          /* rows of the longest cell */
    Row *rows;            /* eliminated rows, kept for the backward substitution */
    Row *carry, *carried; /* [pencil] last row of a cell, sent on and received */
    lanes (*first)[COMPONENTS],
        (*next)[COMPONENTS];                  /* [pencil] first solution of a cell, sent back and received */
    Blocks *blocks;                           /* [3] */
    lanes (*u)[COMPONENTS], (*w)[COMPONENTS]; /* [row] one pencil */
} Solver;

/* Collective. */
void solver_make(Solver *solver, const Domain *domain);

/* Solves along one direction for all lines inside the grid. Collective. */
void solve_direction(const Solver *solver, const Domain *domain, int direction, double dt);

/* u += rhs on the interior points. */
void add_update(const Domain *domain);

#endif
