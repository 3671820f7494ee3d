/* The data of a checkpoint: every value follows from its place in the whole field, so that a restart on any
 * number of ranks knows what it must read. */
#ifndef CHECKPOINT_FIELD_H
#define CHECKPOINT_FIELD_H

#include "cube.h"

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
