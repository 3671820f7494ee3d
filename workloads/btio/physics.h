/* The equations of BT's test problem in the frame of one line: normal momentum first, two across.
 *
 *   dU/dt = sum over directions of  -dF/dn + d2 V/dn2 + d d2U/dn2 - eps4 (4th difference)  + forcing
 *
 * F is the inviscid flux and V the function whose second derivative is the viscous term (RNR-94-007; only
 * derivatives along the line are kept). All quantities are dimensionless. */
#ifndef BTIO_PHYSICS_H
#define BTIO_PHYSICS_H

/* A vector of doubles, one for each of LANES neighbouring lines of a sweep.
 *
 * All arithmetic of the solver is on whole vectors, lane by lane. A point therefore sees the same operations
 * whatever its place in a cell, and the solution has the same bits for any number of ranks. */

#ifdef __AVX512F__
enum { LANES = 8 };
#else
enum { LANES = 4 };
#endif

typedef double lanes __attribute__((vector_size(LANES * sizeof(double))));

/* A vector at any address, aligned or not. */
typedef double lanes_anywhere
    __attribute__((vector_size(LANES * sizeof(double)), aligned(sizeof(double)), may_alias));

#define GAMMA            1.4         /* NPB's c1: the ratio of specific heats. */
#define GAMMA_1          0.4         /* NPB's c2: c1 - 1. */
#define VISCOSITY        0.1         /* The factor c3 c4 of NPB. */
#define CONDUCTIVITY     0.196       /* The factor c1 c5 c3 c4 of NPB. */
#define NORMAL_VISCOSITY (0.4 / 3.0) /* The factor 4/3 c3 c4 of NPB. */
/* The factor c3 c4 (1 - c1 c5) of NPB, for the kinetic energy. */
#define SHEAR_HEATING (0.1 * (1.0 - 1.96))
/* The factor c3 c4 / 6 of NPB, for the square of the normal velocity. */
#define NORMAL_HEATING     (0.1 / 6.0)
#define FOURTH_DISSIPATION 0.25 /* A quarter of the largest second-order dissipation; not scaled by h. */

/* Constants along one direction, where h = 1/(points - 1). */
typedef struct Metric {
    double inverse_h2, inverse_2h; /* 1/h^2 and 1/(2 h), which NPB calls t1 and t2. */
    double dissipation;            /* Second-order dissipation d, the same for all components. */
} Metric;

static inline Metric metric_of(int direction, int points)
{
    static const double dissipation[3] = {0.75, 0.75, 1.0};
    double cells = points - 1;
    return (Metric){cells * cells, 0.5 * cells, dissipation[direction]};
}

/* State at a point: velocities along and across the line, total and kinetic energy per mass. */
typedef struct Primitive {
    lanes inverse_density, normal, across[2], energy, kinetic;
} Primitive;

static inline void primitive_of(const lanes u[5], Primitive *p)
{
    p->inverse_density = 1.0 / u[0];
    p->normal = u[1] * p->inverse_density;
    p->across[0] = u[2] * p->inverse_density;
    p->across[1] = u[3] * p->inverse_density;
    p->energy = u[4] * p->inverse_density;
    p->kinetic = 0.5 * (p->normal * p->normal + p->across[0] * p->across[0] + p->across[1] * p->across[1]);
}

#endif
