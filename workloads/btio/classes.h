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
    int size, steps; /* Grid points in each direction, and number of time steps. */
    double dt;
    double residual[COMPONENTS];   /* RMS norms of the residual after the last step. */
    double error[COMPONENTS];      /* RMS norms of the solution error after the last step. */
    double dump_error[COMPONENTS]; /* Mean of the error norms over the dumps of a write interval of 5. */
    bool has_dump_error;
} Class;

/* Returns the class with this name, or NULL. */
const Class *class_named(const char *name);

/* Returns the class with this grid and, unless `steps` is 0, with this many steps; NULL if there is none. */
const Class *class_like(const int grid[3], int steps);

#endif
