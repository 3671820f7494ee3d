/* The multipartition: a square number p*p of ranks; each owns p cells of the grid, one in every plane of
 * cells in each direction, so that a sweep along any direction keeps every rank busy.
 *
 * Rank r = i + p j owns, for c = 0..p-1, the cell with coordinates ((i+c) mod p, (j-c) mod p, c). Directions
 * 0, 1, 2 are x, y, z. A field is an array [z][y][component][x] with GHOSTS points around the cell; a
 * pointer to a field points at component 0 of the cell's first own point. Local indices start there, global
 * ones at 0. */
#ifndef BTIO_DOMAIN_H
#define BTIO_DOMAIN_H

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>

/* The NPB classes of BT: sizes, time steps and the published norms.
 *
 * Source: the NAS Parallel Benchmarks, BT (NASA Ames reports RNR-94-007, NAS-95-020) and BT-IO (NAS-03-002);
 * values of NPB 3.4. */

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

enum { GHOSTS = 2, SMALLEST_CELL = 3, SMALLEST_GRID = 6 };

typedef struct Cell {
    int coordinate[3];
    /* Global index of the first own point, and number of own points, in each direction. */
    int low[3], size[3];
    /* Range of the points that are not on the boundary of the grid, as local indices [begin, end) in each
     * direction. */
    int begin[3], end[3];
    ptrdiff_t stride[3]; /* Distance in doubles from a point to its neighbour. */
    ptrdiff_t component; /* Distance in doubles from a component to the next. */
    ptrdiff_t origin;    /* Number of doubles in a field before the cell's first own point. */
    ptrdiff_t doubles;   /* Number of doubles of a field in memory, with ghost points and spare room. */
    double *u, *rhs, *forcing;
} Cell;

typedef struct Domain {
    MPI_Comm comm;
    int rank, ranks;
    /* Number of cells along each direction of the grid, which is also the number of cells of each rank
     * (p). */
    int edge;
    int grid[3];
    Cell *cells; /* Array of `edge` cells. */
    /* Index of the own cell for each direction and each coordinate along it: an array [3][edge]. */
    int *slice;
    int before[3], after[3]; /* Ranks of the neighbours, which are the same for all cells. */
    long long points;        /* Number of points in this rank's cells, without ghost points. */
} Domain;

/* Returns the square root of `ranks` if that is a whole number, else 0. */
int square_edge(int ranks);

/* Lays out the cells, without fields. `grid` must be large enough for the ranks. */
void domain_lay_out(Domain *domain, const int grid[3], MPI_Comm comm);

/* Lays out the cells and allocates u; with `solver` also rhs and forcing. */
void domain_make(Domain *domain, const int grid[3], bool solver, MPI_Comm comm);

/* Returns the own cell at position `at` along `direction`. */
Cell *domain_slice(const Domain *domain, int direction, int at);

/* Fills u with 1, so that ghost points that are never exchanged cause no division by zero. */
void domain_clear(const Domain *domain);

/* Returns the address of component 0 at a local point of a field. */
static inline double *point_of(const Cell *cell, double *field, int x, int y, int z)
{
    return field + x * cell->stride[0] + y * cell->stride[1] + z * cell->stride[2];
}

typedef struct Exchange {
    /* Buffers of the messages. The index of a message is direction * 2, plus 0 for the neighbour before or 1
       for the neighbour after. */
    double *send[6], *receive[6];
    /* Size of both buffers of a message in doubles; a neighbour's planes have the same size as this rank's.
     */
    int doubles[6];
} Exchange;

void exchange_make(Exchange *exchange, const Domain *domain);

/* Fills the ghost points of u from the ranks that own these points. Collective. */
void exchange_ghosts(const Exchange *exchange, const Domain *domain);

#endif
