/* Pencils: LANES neighbouring lines of a cell along one direction, as contiguous vectors [row][component].
 *
 * A pencil's components are ordered (density, momentum along the line, two momenta across, energy), so that
 * the numerical kernels know one direction only. */
#ifndef BTIO_PENCIL_H
#define BTIO_PENCIL_H

#include "domain.h"
#include "lanes.h"

/* The lines of a cell that a sweep along `along` visits: neighbouring lines differ by one point in direction
 * `side`, layers of lines in direction `layer`. */
typedef struct Sweep {
    int along, side, layer;
    int order[COMPONENTS]; /* component of the field that stands at each place of a pencil */
} Sweep;

extern const Sweep SWEEPS[3];

/* A pencil's place in a cell: local indices of its first line. */
typedef struct Place {
    int side, layer;
} Place;

/* Number of pencils that cover the lines in the interior of the grid, and the place of each. */
int pencil_count(const Cell *cell, const Sweep *sweep);
Place pencil_place(const Cell *cell, const Sweep *sweep, int index);

/* Rows [first, first + rows) along the line. Lanes past the interior hold whatever lies there. */
void pencil_load(const Cell *cell, const Sweep *sweep, Place place, double *field, int first, int rows,
                 lanes (*out)[COMPONENTS]);

/* Asks for what the next load of that pencil will touch at about this row. Steps across rows and planes are
 * too long for the hardware to foresee. */
void pencil_prefetch(const Cell *cell, const Sweep *sweep, Place place, const double *field, int row);

/* Stores the interior lanes. */
void pencil_store(const Cell *cell, const Sweep *sweep, Place place, double *field, int first, int rows,
                  const lanes (*in)[COMPONENTS]);

#endif
