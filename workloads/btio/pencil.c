#include "solve.h"

const Sweep SWEEPS[3] = {
    {0, 1, 2, {0, 1, 2, 3, 4}},
    {1, 0, 2, {0, 2, 1, 3, 4}},
    {2, 0, 1, {0, 3, 1, 2, 4}},
};

static int pencils_in_layer(const Cell *cell, const Sweep *sweep)
{
    return (cell->end[sweep->side] - cell->begin[sweep->side] + LANES - 1) / LANES;
}

int pencil_count(const Cell *cell, const Sweep *sweep)
{
    return pencils_in_layer(cell, sweep) * (cell->end[sweep->layer] - cell->begin[sweep->layer]);
}

Place pencil_place(const Cell *cell, const Sweep *sweep, int index)
{
    int width = pencils_in_layer(cell, sweep);
    return (Place){
        .side = cell->begin[sweep->side] + index % width * LANES,
        .layer = cell->begin[sweep->layer] + index / width,
    };
}

static ptrdiff_t offset_of(const Cell *cell, const Sweep *sweep, Place place, int first)
{
    return first * cell->stride[sweep->along] + place.side * cell->stride[sweep->side] +
           place.layer * cell->stride[sweep->layer];
}

static int lanes_inside(const Cell *cell, const Sweep *sweep, Place place)
{
    int left = cell->end[sweep->side] - place.side;
    return left < LANES ? left : LANES;
}

void pencil_load(const Cell *cell, const Sweep *sweep, Place place, double *field, int first, int rows,
                 lanes (*out)[COMPONENTS])
{
    const double *base = field + offset_of(cell, sweep, place, first);
    ptrdiff_t along = cell->stride[sweep->along], side = cell->stride[sweep->side];
    for (int m = 0; m < COMPONENTS; m++) {
        const double *from = base + sweep->order[m] * cell->component;
        if (side == 1) {
            for (int row = 0; row < rows; row++)
                out[row][m] = *(const lanes_anywhere *)(from + row * along);
        } else {
            for (int row = 0; row < rows; row++)
                for (int lane = 0; lane < LANES; lane++)
                    out[row][m][lane] = from[lane * side + row * along];
        }
    }
}

void pencil_prefetch(const Cell *cell, const Sweep *sweep, Place place, const double *field, int row)
{
    ptrdiff_t side = cell->stride[sweep->side];
    /* Along x, neighbouring rows share a cache line: one line has as many rows as a vector has lanes. So each
     * row prefetches the cache line of another lane. */
    int lane = side == 1 ? 0 : row & (LANES - 1);
    const double *base = field + offset_of(cell, sweep, place, row - lane) + lane * side;
    for (int m = 0; m < COMPONENTS; m++)
        __builtin_prefetch(base + m * cell->component, 0, 2);
}

void pencil_store(const Cell *cell, const Sweep *sweep, Place place, double *field, int first, int rows,
                  const lanes (*in)[COMPONENTS])
{
    double *base = field + offset_of(cell, sweep, place, first);
    ptrdiff_t along = cell->stride[sweep->along], side = cell->stride[sweep->side];
    int inside = lanes_inside(cell, sweep, place);
    for (int m = 0; m < COMPONENTS; m++) {
        double *to = base + sweep->order[m] * cell->component;
        if (side == 1 && inside == LANES) {
            for (int row = 0; row < rows; row++)
                *(lanes_anywhere *)(to + row * along) = in[row][m];
        } else {
            for (int row = 0; row < rows; row++)
                for (int lane = 0; lane < inside; lane++)
                    to[lane * side + row * along] = in[row][m][lane];
        }
    }
}
