/* Moves a group's part of a field to its writer, or from its reader: by one MPI_Gatherv or MPI_Scatterv, and
 * by reordering between blocks of ranks and rows of the field. */
#ifndef CHECKPOINT_SLAB_H
#define CHECKPOINT_SLAB_H

#include "cube.h"

typedef struct Slab {
    const Cube *cube;
    int levels;           /* Number of levels that one gather or scatter moves: 1, or all. */
    int own_count;        /* Number of cells that this rank gives or receives. */
    int *counts, *starts; /* Number of cells of each rank of the group, and the index in `packed` at which
                           * they begin. */
    float *packed;        /* On the writer, the cells of rank after rank, each as
                           * [level][latitude][longitude]. */
    float *field;         /* On the writer, the group's part of a field: [level][latitude of the
                           * group][longitude]. */
    double moving;        /* Seconds that this rank spent in gathers and scatters since slab_make. */
} Slab;

/* Returns the number of cells that a writer holds at once; MPI's counts limit it to INT_MAX. */
long long slab_cells(const Cube *cube, int group, int levels);

void slab_make(Slab *slab, const Cube *cube, int levels);

/* Gathers the ranks' parts of a slab on the writer of their group. `part` is this rank's data,
 * [level][latitude][longitude]. Collective over the group. */
void slab_gather(Slab *slab, const float *part);
void slab_unpack(Slab *slab);

void slab_pack(Slab *slab);
void slab_scatter(Slab *slab, float *part);

#endif
