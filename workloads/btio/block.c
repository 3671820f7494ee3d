#include "solve.h"

/* Adds the flux entry `t` and the viscous entry `n` at a place of the three blocks T + N, 2 N and T - N. */
static inline void both(Blocks *blocks, int i, int j, lanes t, lanes n)
{
    blocks->minus_lower[i][j] = t + n;
    blocks->centre[i][j] = n + n;
    blocks->upper[i][j] = t - n;
}

/* Adds an entry of the flux Jacobian at a place where the viscous one is zero. */
static inline void flux_only(Blocks *blocks, int i, int j, lanes t)
{
    blocks->minus_lower[i][j] = t;
    blocks->upper[i][j] = t;
}

void blocks_of(const lanes u[COMPONENTS], const Metric *metric, double dt, Blocks *blocks)
{
    const lanes zero = {0.0};
    double a = dt * metric->inverse_2h, b = dt * metric->inverse_h2;
    Primitive p;
    primitive_of(u, &p);
    lanes q = p.normal, s = p.across[0], t = p.across[1], qs = p.kinetic, energy = GAMMA * p.energy;
    lanes aq = a * q, bn = b * p.inverse_density, damping = zero + b * metric->dissipation;
    const double normal = NORMAL_VISCOSITY, across = VISCOSITY, heat = CONDUCTIVITY;

    both(blocks, 0, 0, zero, damping);
    flux_only(blocks, 0, 1, zero + a);

    both(blocks, 1, 0, a * (GAMMA_1 * qs - q * q), -normal * bn * q);
    both(blocks, 1, 1, (2.0 - GAMMA_1) * aq, normal * bn + damping);
    flux_only(blocks, 1, 2, -GAMMA_1 * a * s);
    flux_only(blocks, 1, 3, -GAMMA_1 * a * t);
    flux_only(blocks, 1, 4, zero + GAMMA_1 * a);

    both(blocks, 2, 0, -aq * s, -across * bn * s);
    flux_only(blocks, 2, 1, a * s);
    both(blocks, 2, 2, aq, across * bn + damping);

    both(blocks, 3, 0, -aq * t, -across * bn * t);
    flux_only(blocks, 3, 1, a * t);
    both(blocks, 3, 3, aq, across * bn + damping);

    both(blocks, 4, 0, aq * (2.0 * GAMMA_1 * qs - energy),
         -bn * ((normal - heat) * q * q + (across - heat) * (s * s + t * t) + heat * p.energy));
    both(blocks, 4, 1, a * (energy - GAMMA_1 * (q * q + qs)), (normal - heat) * bn * q);
    both(blocks, 4, 2, -GAMMA_1 * aq * s, (across - heat) * bn * s);
    both(blocks, 4, 3, -GAMMA_1 * aq * t, (across - heat) * bn * t);
    both(blocks, 4, 4, GAMMA * aq, heat * bn + damping);
}

/* Computes product = -lower * previous, where `l` holds -lower; entries that are always zero are skipped. */
static inline void multiply(const lanes l[5][5], const Row previous, Row product)
{
    for (int k = 0; k < 6; k++) {
        lanes x0 = previous[0][k], x1 = previous[1][k], x2 = previous[2][k], x3 = previous[3][k];
        lanes x4 = previous[4][k];
        product[0][k] = l[0][0] * x0 + l[0][1] * x1;
        product[1][k] = l[1][0] * x0 + l[1][1] * x1 + l[1][2] * x2 + l[1][3] * x3 + l[1][4] * x4;
        product[2][k] = l[2][0] * x0 + l[2][1] * x1 + l[2][2] * x2;
        product[3][k] = l[3][0] * x0 + l[3][1] * x1 + l[3][3] * x3;
        product[4][k] = l[4][0] * x0 + l[4][1] * x1 + l[4][2] * x2 + l[4][3] * x3 + l[4][4] * x4;
    }
}

/* Adds I + 2 N of this row to the block `b`, where `n` holds 2 N without the entries that are always zero. */
static inline void add_centre(const lanes n[5][5], Row b)
{
    for (int i = 0; i < 5; i++)
        b[i][i] += 1.0 + n[i][i];
    for (int i = 1; i < 4; i++)
        b[i][0] += n[i][0];
    for (int j = 0; j < 4; j++)
        b[4][j] += n[4][j];
}

static inline void set_upper(const lanes upper[5][5], Row row)
{
    const lanes zero = {0.0};
    for (int k = 0; k < 5; k++) {
        row[0][k] = k < 2 ? upper[0][k] : zero;
        row[1][k] = upper[1][k];
        row[2][k] = k < 3 ? upper[2][k] : zero;
        row[3][k] = k < 2 || k == 3 ? upper[3][k] : zero;
        row[4][k] = upper[4][k];
    }
}

/* Computes row = b^-1 row, by Gauss-Jordan elimination without pivoting: the diagonals of the blocks are
 * large enough for that. Columns 0..4 of b are the block. */
static inline void solve_block(Row b, Row row)
{
#pragma GCC unroll 5
    for (int pivot = 0; pivot < 5; pivot++) {
        lanes inverse = 1.0 / b[pivot][pivot];
#pragma GCC unroll 5
        for (int k = pivot + 1; k < 5; k++)
            b[pivot][k] *= inverse;
#pragma GCC unroll 6
        for (int k = 0; k < 6; k++)
            row[pivot][k] *= inverse;
#pragma GCC unroll 5
        for (int i = 0; i < 5; i++) {
            if (i == pivot)
                continue;
            lanes factor = b[i][pivot];
#pragma GCC unroll 5
            for (int k = pivot + 1; k < 5; k++)
                b[i][k] -= factor * b[pivot][k];
#pragma GCC unroll 6
            for (int k = 0; k < 6; k++)
                row[i][k] -= factor * row[pivot][k];
        }
    }
}

void eliminate(const Blocks *before, const Blocks *here, const Blocks *after, const lanes r[COMPONENTS],
               const Row previous, Row row)
{
    Row b;
    multiply(before->minus_lower, previous, b);
    set_upper(after->upper, row);
    for (int m = 0; m < COMPONENTS; m++)
        row[m][5] = r[m] + b[m][5];
    add_centre(here->centre, b);
    solve_block(b, row);
}

void substitute(const Row row, const lanes next[COMPONENTS], lanes w[COMPONENTS])
{
    for (int m = 0; m < COMPONENTS; m++)
        w[m] = row[m][5] - row[m][0] * next[0] - row[m][1] * next[1] - row[m][2] * next[2] -
               row[m][3] * next[3] - row[m][4] * next[4];
}
