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

#endif
