#include "solve.h"

#include <string.h>

#include "fail.h"

/* Bytes of memory for a batch's rows that wait for the backward substitution: about half of a core's
 * second-level cache. */
enum { WAITING_BYTES = 512 * 1024 };

/* One cell in a sweep, and the pencils of the cell that belong to a batch. */
typedef struct Work {
    const Cell *cell;
    const Sweep *sweep;
    Metric metric;
    double dt;
    int first, rows; /* First interior row along the sweep, and number of interior rows. */
    int begin, end;  /* Range of pencils that the batch takes. */
    Row *waiting;    /* Eliminated rows of the pencils in that range, [pencil][solver->longest]. */
} Work;

static int smaller(int a, int b) { return a < b ? a : b; }

static Work work_at(const Solver *solver, const Domain *domain, int direction, int at, int batch, double dt)
{
    const Cell *cell = domain_slice(domain, direction, at);
    const Sweep *sweep = &SWEEPS[direction];
    int pencils = pencil_count(cell, sweep);
    return (Work){
        .cell = cell,
        .sweep = sweep,
        .metric = metric_of(direction, domain->grid[direction]),
        .dt = dt,
        .first = cell->begin[direction],
        .rows = cell->end[direction] - cell->begin[direction],
        .begin = smaller(batch * solver->batch, pencils),
        .end = smaller((batch + 1) * solver->batch, pencils),
        .waiting = solver->rows + (size_t)at * solver->batch * solver->longest,
    };
}

/* Finds, over all directions and ranks, the largest number of rows and the largest number of pencils of a
 * cell. */
static void measure_cells(const Domain *domain, int most[2])
{
    most[0] = most[1] = 0;
    for (int direction = 0; direction < 3; direction++)
        for (int c = 0; c < domain->edge; c++) {
            const Cell *cell = &domain->cells[c];
            int rows = cell->end[direction] - cell->begin[direction];
            int pencils = pencil_count(cell, &SWEEPS[direction]);
            most[0] = rows > most[0] ? rows : most[0];
            most[1] = pencils > most[1] ? pencils : most[1];
        }
    MPI_Allreduce(MPI_IN_PLACE, most, 2, MPI_INT, MPI_MAX, domain->comm);
}

void solver_make(Solver *solver, const Domain *domain)
{
    int most[2], waiting_cells = domain->edge - 1;
    measure_cells(domain, most);
    solver->longest = most[0];
    solver->batch = most[1];
    if (waiting_cells > 0) {
        int fits = WAITING_BYTES / (int)sizeof(Row) / (waiting_cells * solver->longest);
        solver->batch = smaller(solver->batch, fits > 1 ? fits : 1);
    }
    solver->batches = (most[1] + solver->batch - 1) / solver->batch;
    solver->rows =
        allocate(((size_t)waiting_cells * solver->batch + 1) * solver->longest, sizeof *solver->rows);
    solver->carry = allocate(solver->batch, sizeof *solver->carry);
    solver->carried = allocate(solver->batch, sizeof *solver->carried);
    solver->first = allocate(solver->batch, sizeof *solver->first);
    solver->next = allocate(solver->batch, sizeof *solver->next);
    solver->blocks = allocate(3, sizeof *solver->blocks);
    solver->u = allocate(solver->longest + 2, sizeof *solver->u);
    solver->w = allocate(solver->longest, sizeof *solver->w);
}

/* Eliminates downwards through one pencil of a cell; `carried` is the row before the pencil's first row. */
static void forward(const Solver *solver, const Work *work, int pencil, const Row carried, Row *rows)
{
    Place place = pencil_place(work->cell, work->sweep, pencil);
    Place following = pencil_place(work->cell, work->sweep, pencil + 1);
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
        pencil_prefetch(work->cell, work->sweep, following, work->cell->u, work->first + row);
        pencil_prefetch(work->cell, work->sweep, following, work->cell->rhs, work->first + row);
    }
}

/* Substitutes upwards through one pencil of a cell; `next` is the solution at the row behind its last one.
 * Leaves the first row's solution in solver->w[0]. */
static void backward(const Solver *solver, const Work *work, int pencil, const lanes next[COMPONENTS],
                     Row *rows)
{
    Place place = pencil_place(work->cell, work->sweep, pencil);
    for (int row = work->rows - 1; row >= 0; row--) {
        substitute(rows[row], next, solver->w[row]);
        next = solver->w[row];
    }
    pencil_store(work->cell, work->sweep, place, work->cell->rhs, work->first, work->rows, solver->w);
}

/* Sends the rows at the edge of this cell to the neighbour that goes on with the sweep, and receives the rows
 * at the edge of this rank's next cell from the neighbour `from`. */
static void pass(const Domain *domain, int to, const void *out, size_t sent, int from, void *in,
                 size_t received)
{
    MPI_Sendrecv(out, (int)(sent / sizeof(double)), MPI_DOUBLE, to, 0, in, (int)(received / sizeof(double)),
                 MPI_DOUBLE, from, 0, domain->comm, MPI_STATUS_IGNORE);
}

/* Eliminates all pencils of a batch through one cell, and keeps the eliminated rows for the backward
 * substitution. */
static void go_forward(const Solver *solver, const Work *work, bool first_cell)
{
    static const Row nothing;
    for (int k = 0; k < work->end - work->begin; k++) {
        Row *rows = work->waiting + (size_t)k * solver->longest;
        forward(solver, work, work->begin + k, first_cell ? nothing : solver->carried[k], rows);
        memcpy(solver->carry[k], rows[work->rows - 1], sizeof(Row));
    }
}

/* Eliminates through the last cell of the sweep and substitutes back at once, one pencil after the other. */
static void turn_round(const Solver *solver, const Work *work, bool first_cell)
{
    static const Row nothing;
    static const lanes end[COMPONENTS];
    for (int k = 0; k < work->end - work->begin; k++) {
        forward(solver, work, work->begin + k, first_cell ? nothing : solver->carried[k], work->waiting);
        backward(solver, work, work->begin + k, end, work->waiting);
        memcpy(solver->first[k], solver->w[0], sizeof solver->first[k]);
    }
}

/* Substitutes back through one cell for all pencils of a batch, from the last row to the first. */
static void go_back(const Solver *solver, const Work *work)
{
    for (int k = 0; k < work->end - work->begin; k++) {
        backward(solver, work, work->begin + k, solver->next[k], work->waiting + (size_t)k * solver->longest);
        memcpy(solver->first[k], solver->w[0], sizeof solver->first[k]);
    }
}

static void solve_batch(const Solver *solver, const Domain *domain, int direction, int batch, double dt)
{
    int last = domain->edge - 1, before = domain->before[direction], after = domain->after[direction];
    Work work = work_at(solver, domain, direction, 0, batch, dt);
    for (int at = 0; at < last; at++) {
        go_forward(solver, &work, at == 0);
        size_t sent = work.end - work.begin;
        work = work_at(solver, domain, direction, at + 1, batch, dt);
        pass(domain, after, solver->carry, sent * sizeof(Row), before, solver->carried,
             (work.end - work.begin) * sizeof(Row));
    }
    turn_round(solver, &work, last == 0);
    for (int at = last - 1; at >= 0; at--) {
        size_t sent = work.end - work.begin;
        work = work_at(solver, domain, direction, at, batch, dt);
        pass(domain, before, solver->first, sent * sizeof *solver->first, after, solver->next,
             (work.end - work.begin) * sizeof *solver->next);
        go_back(solver, &work);
    }
}

void solve_direction(const Solver *solver, const Domain *domain, int direction, double dt)
{
    for (int batch = 0; batch < solver->batches; batch++)
        solve_batch(solver, domain, direction, batch, dt);
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
