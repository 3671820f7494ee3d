/* The NPB classes of BT: sizes, time steps and the published norms.
 *
 * Source: the NAS Parallel Benchmarks, BT (NASA Ames reports RNR-94-007, NAS-95-020) and BT-IO (NAS-03-002);
 * values of NPB 3.4. */
#ifndef BTIO_CLASSES_H
#define BTIO_CLASSES_H

#include <stdbool.h>

enum { COMPONENTS = 5, POINT_BYTES = COMPONENTS * sizeof(double), PUBLISHED_WRITE_INTERVAL = 5 };

typedef struct Class {
    char letter;
    int size, steps; /* grid points in each direction; time steps */
    double dt;
    double residual[COMPONENTS];   /* RMS norms of the residual after the last step */
    double error[COMPONENTS];      /* RMS norms of the solution error after the last step */
    double dump_error[COMPONENTS]; /* mean of the error norms over the dumps of a write interval of 5 */
    bool has_dump_error;
} Class;

/* NULL when there is no such class. */
const Class *class_named(const char *name);

/* The class with this grid, and with this many steps unless `steps` is 0; NULL when there is none. */
const Class *class_like(const int grid[3], int steps);

#endif
