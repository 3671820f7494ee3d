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
    int nx, group_rows, first_row; /* Sizes of this rank's group, and its first row. */
    Block *columns;                /* For each of nx columns its part in longitude. */
    Block *rows;                   /* For each of 6 NY rows its part in latitude. */
    Block own[2];                  /* Longitudes and latitudes of this rank. */
    Block group_latitudes;         /* Latitudes of this rank's group, at all longitudes. */
    int group_number, groups;
} Cube;

/* Collective. Lays out the cube. */
void cube_make(Cube *cube, const Problem *problem, MPI_Comm world);

/* Returns true if this rank writes, or reads, for its group. */
bool cube_has_io(const Cube *cube);

/* Returns the latitudes of a group. */
Block cube_latitudes(const Cube *cube, int group);

#endif
