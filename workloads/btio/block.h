/* The rows of the block-tridiagonal systems: 5x5 blocks in the frame of one line, for LANES lines at once.
 *
 *   lower_g w_{g-1} + (I + 2 N) w_g + upper_g w_{g+1} = r_g
 *   lower_g = -(T + N) at g-1,   upper_g = T - N at g+1
 *   T = dt/(2h) * Jacobian of the flux,   N = dt/h^2 * (Jacobian of the viscous function + d I)
 *
 * Many entries are zero; they are neither computed nor multiplied. */
#ifndef BTIO_BLOCK_H
#define BTIO_BLOCK_H

#include "domain.h"
#include "physics.h"

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

#endif
