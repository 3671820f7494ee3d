/* The data of a checkpoint: every value follows from its place in the whole field, so that a restart on any
 * number of ranks knows what it must read. */
#ifndef CHECKPOINT_FIELD_H
#define CHECKPOINT_FIELD_H

#include "cube.h"

/* Cells of this rank in one level. */
size_t field_cells(const Cube *cube);

/* Fills this rank's part of an array, [level][latitude][longitude]. Static data is the number of the rank. */
void field_fill(const Cube *cube, int array, bool static_data, float *part);

/* The first cell that is not what field_fill would put there. */
typedef struct Wrong {
    long long count;
    int array, level, latitude, longitude; /* counted from 1, as MAPL does */
    float found, expected;
} Wrong;

/* Adds this rank's wrong cells of an array. */
void field_check(const Cube *cube, int array, bool static_data, const float *part, Wrong *wrong);

#endif
