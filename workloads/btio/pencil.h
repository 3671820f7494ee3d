/* Pencils: LANES neighbouring lines of a cell along one direction, as contiguous vectors [row][component].
 *
 * A pencil's components are ordered (density, momentum along the line, two momenta across, energy), so that
 * the numerical kernels know one direction only. */
#ifndef BTIO_PENCIL_H
#define BTIO_PENCIL_H

#include "domain.h"
#include "physics.h"

/* Directions of a sweep that solves along the lines of direction `along`. The lanes of a pencil are
 * neighbouring lines in direction `side`; pencils are layered in direction `layer`. */
typedef struct Sweep {
    int along, side, layer;
    int order[COMPONENTS]; /* For each place in a pencil's row, the number of the field's component that
                            * stands there. */
} Sweep;

extern const Sweep SWEEPS[3];

/* Place of a pencil in a cell: local indices of its first line. */
typedef struct Place {
    int side, layer;
} Place;

/* Return the number of pencils that cover the lines inside the grid, and the place of each. */
int pencil_count(const Cell *cell, const Sweep *sweep);
Place pencil_place(const Cell *cell, const Sweep *sweep, int index);

/* Loads rows [first, first + rows) along the line. Lanes beyond the interior get arbitrary values. */
void pencil_load(const Cell *cell, const Sweep *sweep, Place place, double *field, int first, int rows,
                 lanes (*out)[COMPONENTS]);

/* Prefetches data near `row` that the next load of this pencil needs, because the hardware cannot predict
 * steps across rows and planes. */
void pencil_prefetch(const Cell *cell, const Sweep *sweep, Place place, const double *field, int row);

/* Stores rows [first, first + rows) of a pencil into the field, without the lanes beyond the interior. */
void pencil_store(const Cell *cell, const Sweep *sweep, Place place, double *field, int first, int rows,
                  const lanes (*in)[COMPONENTS]);

#endif
