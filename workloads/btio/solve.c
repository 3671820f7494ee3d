#include "solve.h"

#include "fail.h"
#include "pencil.h"

#include <string.h>

/* One cell in a sweep. */
typedef struct Work {
    const Cell *cell;
    const Sweep *sweep;
    Metric metric;
    double dt;
    int first, rows, pencils;
} Work;

static Work work_at(const Domain *domain, int direction, int at, double dt)
{
    const Cell *cell = domain_slice(domain, direction, at);
    const Sweep *sweep = &SWEEPS[direction];
    return (Work){
        .cell = cell,
        .sweep = sweep,
        .metric = metric_of(direction, domain->grid[direction]),
        .dt = dt,
        .first = cell->begin[direction],
        .rows = cell->end[direction] - cell->begin[direction],
        .pencils = pencil_count(cell, sweep),
    };
}

static size_t larger(size_t a, size_t b) { return a > b ? a : b; }

void solver_make(Solver *solver, const Domain *domain)
{
    size_t stored = 0, pencils = 0, longest = 0;
    for (int direction = 0; direction < 3; direction++) {
        size_t waiting = 0;
        for (int at = 0; at < domain->edge; at++) {
            Work work = work_at(domain, direction, at, 0.0);
            bool last = at == domain->edge - 1;
            waiting += (size_t)work.rows * (last ? 1 : work.pencils);
            pencils = larger(pencils, work.pencils);
            longest = larger(longest, work.rows + 2);
        }
        stored = larger(stored, waiting);
    }
    solver->rows = allocate(stored, sizeof *solver->rows);
    solver->carry = allocate(pencils, sizeof *solver->carry);
    solver->carried = allocate(pencils, sizeof *solver->carried);
    solver->first = allocate(pencils, sizeof *solver->first);
    solver->next = allocate(pencils, sizeof *solver->next);
    solver->blocks = allocate(3, sizeof *solver->blocks);
    solver->u = allocate(longest, sizeof *solver->u);
    solver->w = allocate(longest, sizeof *solver->w);
}

/* Eliminates downwards through one pencil of a cell; `carried` is the row before its first. */
static void forward(const Solver *solver, const Work *work, Place place, const Row carried, Row *rows)
{
    Blocks *blocks = solver->blocks;
    const lanes(*before)[6] = carried;
    pencil_load(work->cell, work->sweep, place, work->cell->u, work->first - 1, work->rows + 2, solver->u);
    pencil_load(work->cell, work->sweep, place, work->cell->rhs, work->first, work->rows, solver->w);
    blocks_of(solver->u[0], &work->metric, work->dt, &blocks[0]);
    blocks_of(solver->u[1], &work->metric, work->dt, &blocks[1]);
    for (int row = 0; row < work->rows; row++) {
        const Blocks *behind = &blocks[row % 3], *here = &blocks[(row + 1) % 3];
        Blocks *ahead = &blocks[(row + 2) % 3];
        blocks_of(solver->u[row + 2], &work->metric, work->dt, ahead);
        eliminate(behind, here, ahead, solver->w[row], before, rows[row]);
        before = rows[row];
    }
}

/* Substitutes upwards through one pencil of a cell; `next` is the solution behind its last row. Leaves the
 * first row's solution in solver->w[0]. */
static void backward(const Solver *solver, const Work *work, Place place, const lanes next[COMPONENTS],
                     Row *rows)
{
    for (int row = work->rows - 1; row >= 0; row--) {
        substitute(rows[row], next, solver->w[row]);
        next = solver->w[row];
    }
    pencil_store(work->cell, work->sweep, place, work->cell->rhs, work->first, work->rows, solver->w);
}

/* Sends `doubles` to one neighbour while as many other lines' come from the opposite one. */
static void pass(const Domain *domain, int to, const void *out, size_t sent, int from, void *in,
                 size_t received)
{
    MPI_Sendrecv(out, (int)(sent / sizeof(double)), MPI_DOUBLE, to, 0, in, (int)(received / sizeof(double)),
                 MPI_DOUBLE, from, 0, domain->comm, MPI_STATUS_IGNORE);
}

/* Forward through the cells from the first to the last; there each pencil is substituted at once. Returns
 * where the rows of the last cell were kept. */
static Row *eliminate_cells(const Solver *solver, const Domain *domain, int direction, double dt)
{
    Row *rows = solver->rows;
    static const Row nothing;
    static const lanes end[COMPONENTS];
    for (int at = 0; at < domain->edge; at++) {
        Work work = work_at(domain, direction, at, dt);
        bool last = at == domain->edge - 1;
        for (int k = 0; k < work.pencils; k++) {
            Place place = pencil_place(work.cell, work.sweep, k);
            forward(solver, &work, place, at == 0 ? nothing : solver->carried[k], rows);
            if (last) {
                backward(solver, &work, place, end, rows);
                memcpy(solver->first[k], solver->w[0], sizeof solver->first[k]);
            } else {
                memcpy(solver->carry[k], rows[work.rows - 1], sizeof(Row));
                rows += work.rows;
            }
        }
        if (!last) {
            size_t next_pencils = work_at(domain, direction, at + 1, dt).pencils;
            pass(domain, domain->after[direction], solver->carry, work.pencils * sizeof(Row),
                 domain->before[direction], solver->carried, next_pencils * sizeof(Row));
        }
    }
    return rows;
}

void solve_direction(const Solver *solver, const Domain *domain, int direction, double dt)
{
    Row *rows = eliminate_cells(solver, domain, direction, dt);
    for (int at = domain->edge - 2; at >= 0; at--) {
        Work work = work_at(domain, direction, at, dt);
        size_t sent_pencils = work_at(domain, direction, at + 1, dt).pencils;
        pass(domain, domain->before[direction], solver->first, sent_pencils * sizeof *solver->first,
             domain->after[direction], solver->next, work.pencils * sizeof *solver->next);
        rows -= (size_t)work.rows * work.pencils;
        for (int k = 0; k < work.pencils; k++) {
            Place place = pencil_place(work.cell, work.sweep, k);
            backward(solver, &work, place, solver->next[k], rows + (size_t)k * work.rows);
            memcpy(solver->first[k], solver->w[0], sizeof solver->first[k]);
        }
    }
}

void add_update(const Domain *domain)
{
    for (int c = 0; c < domain->edge; c++) {
        const Cell *cell = &domain->cells[c];
        for (int m = 0; m < COMPONENTS; m++)
            for (int z = cell->begin[2]; z < cell->end[2]; z++)
                for (int y = cell->begin[1]; y < cell->end[1]; y++) {
                    double *restrict u = point_of(cell, cell->u + m * cell->component, 0, y, z);
                    const double *restrict change = point_of(cell, cell->rhs + m * cell->component, 0, y, z);
                    for (int x = cell->begin[0]; x < cell->end[0]; x++)
                        u[x] += change[x];
                }
    }
}
