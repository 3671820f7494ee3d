/* The implicit part of a time step: three sweeps of block-tridiagonal solves, rhs <- (I + dt D)^-1 rhs along
 * x, then y, then z. */
#ifndef BTIO_SOLVE_H
#define BTIO_SOLVE_H

#include "block.h"
#include "domain.h"

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

#endif
