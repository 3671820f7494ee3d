/* The cubed sphere on 6 NX NY ranks, and the writer of each group of ranks.
 *
 * A field is real*4 (level, latitude, longitude): the six faces of IM x IM cells follow one another in
 * latitude, so that there are 6 IM latitudes of IM cells. Faces go slowest over the ranks, then blocks of j,
 * then of i: rank = (face NY + j) NX + i. A row is the NX ranks with the same face and j; R = 6 NY / writers
 * rows in turn form a group, whose lowest rank is its writer (or reader). */
#ifndef CHECKPOINT_CUBE_H
#define CHECKPOINT_CUBE_H

#include "config.h"

enum { FACES = 6 };

typedef struct Block {
    int first, size;
} Block;

typedef struct Cube {
    MPI_Comm world, group;
    MPI_Comm io; /* Communicator of the writers; MPI_COMM_NULL on all other ranks. */
    int rank, ranks;
    int edge, latitudes, levels;
    /* Columns and rows of this rank's group, and the number of its first row. */
    int nx, group_rows, first_row;
    Block *columns;        /* Range of longitudes of each of the nx columns. */
    Block *rows;           /* Range of latitudes of each of the 6 NY rows. */
    Block own[2];          /* Ranges of longitudes and latitudes of this rank. */
    Block group_latitudes; /* Range of latitudes of this rank's group, which has all longitudes. */
    int group_number, groups;
} Cube;

/* Collective. Lays out the cube. */
void cube_make(Cube *cube, const Problem *problem, MPI_Comm world);

/* Returns true if this rank writes, or reads, for its group. */
bool cube_has_io(const Cube *cube);

/* Returns the latitudes of a group. */
Block cube_latitudes(const Cube *cube, int group);

/* Moves a group's part of a field to its writer, or from its reader: by one MPI_Gatherv or MPI_Scatterv, and
 * by reordering between blocks of ranks and rows of the field. */

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

/* The data of a checkpoint: every value follows from its place in the whole field, so that a restart on any
 * number of ranks knows what it must read. */

/* Returns the number of this rank's cells in one level. */
size_t field_cells(const Cube *cube);

/* Fills this rank's part of an array, [level][latitude][longitude]. With static data every value is the
 * rank's number. */
void field_fill(const Cube *cube, int array, bool static_data, float *part);

/* The first cell that differs from the value of field_fill. */
typedef struct Wrong {
    long long count;
    int array, level, latitude, longitude; /* Indices of the cell, counted from 1 as in MAPL. */
    float found, expected;
} Wrong;

/* Adds the wrong cells in this rank's part of an array. */
void field_check(const Cube *cube, int array, bool static_data, const float *part, Wrong *wrong);

#endif
