/* Moving a group's part of a field to its writer, or from its reader: one MPI_Gatherv or MPI_Scatterv, and
 * the reordering between blocks of ranks and rows of the field. */
#ifndef CHECKPOINT_SLAB_H
#define CHECKPOINT_SLAB_H

#include "cube.h"

typedef struct Slab {
    const Cube *cube;
    int levels;           /* in one move: 1, or all */
    int own_count;        /* cells that this rank gives or takes */
    int *counts, *starts; /* [ranks of the group], in cells */
    float *packed;        /* rank after rank, each [level][latitude][longitude]; on the writer only */
    float *field;         /* [level][latitude of the group][longitude]; on the writer only */
    double moving;        /* seconds in MPI since slab_make, this rank */
} Slab;

/* Cells that a writer holds at once, which MPI can count only up to INT_MAX. */
long long slab_cells(const Cube *cube, int group, int levels);

void slab_make(Slab *slab, const Cube *cube, int levels);

/* `part` is this rank's, [level][latitude][longitude]. Collective over the group, the first of each two. */
void slab_gather(Slab *slab, const float *part);
void slab_unpack(Slab *slab);

void slab_pack(Slab *slab);
void slab_scatter(Slab *slab, float *part);

#endif
