#include "run.h"

#include <math.h>
#include <stdarg.h>

#include "../../profiler/include/iolens.h"
#include "fail.h"
#include "page_cache.h"

/* Marks the phases of a run for the profiler, if it is present (iolens.h). */

enum phase {
    PHASE_EXCHANGE = 1,
    PHASE_RHS,
    PHASE_SOLVE_X,
    PHASE_SOLVE_Y,
    PHASE_SOLVE_Z,
    PHASE_ADD,
    PHASE_WRITE,
    PHASE_READ,
    PHASE_VERIFY
};

static const char *const LABEL[] = {
    [PHASE_EXCHANGE] = "exchange", [PHASE_RHS] = "rhs",         [PHASE_SOLVE_X] = "x solve",
    [PHASE_SOLVE_Y] = "y solve",   [PHASE_SOLVE_Z] = "z solve", [PHASE_ADD] = "add",
    [PHASE_WRITE] = "write",       [PHASE_READ] = "read",       [PHASE_VERIFY] = "verify",
};

static void phase_begin(enum phase phase) { iolens_region_begin((int)phase, LABEL[phase]); }

static void phase_end(enum phase phase) { iolens_region_end((int)phase); }

enum { STEPS_PER_LINE = 20 };

bool run_has_io(const Run *run) { return run->store.method->open != NULL; }

void run_say(const Run *run, const char *format, ...)
{
    if (run->domain.rank != 0)
        return;
    va_list arguments;
    va_start(arguments, format);
    vprintf(format, arguments);
    va_end(arguments);
    putchar('\n');
}

static void say_norm(const Run *run, const char *what, const double norm[COMPONENTS])
{
    run_say(run, " Norm of %-24s by component: %.13E %.13E %.13E %.13E %.13E", what, norm[0], norm[1],
            norm[2], norm[3], norm[4]);
}

static void say_interior(const Run *run, const char *what, FieldOf *field, double divisor)
{
    double norm[COMPONENTS];
    interior_norm(&run->domain, field, divisor, norm);
    say_norm(run, what, norm);
}

static void say_error(const Run *run, const char *what)
{
    double norm[COMPONENTS];
    error_norm(&run->domain, &run->exact, norm);
    say_norm(run, what, norm);
}

/* Performs one time step; if `watched`, prints the norm of every intermediate result. */
static void advance(Run *run, bool watched)
{
    static const char *const sweeps[3] = {"rhs after x sweep", "rhs after y sweep", "rhs after z sweep"};
    double dt = run->config->dt;
    phase_begin(PHASE_EXCHANGE);
    exchange_ghosts(&run->exchange, &run->domain);
    phase_end(PHASE_EXCHANGE);
    phase_begin(PHASE_RHS);
    compute_rhs(&run->domain, dt);
    phase_end(PHASE_RHS);
    if (watched)
        say_interior(run, "first residual", rhs_of, dt);
    for (int direction = 0; direction < 3; direction++) {
        phase_begin(PHASE_SOLVE_X + (enum phase)direction);
        solve_direction(&run->solver, &run->domain, direction, dt);
        phase_end(PHASE_SOLVE_X + (enum phase)direction);
        if (watched)
            say_interior(run, sweeps[direction], rhs_of, 1.0);
    }
    phase_begin(PHASE_ADD);
    add_update(&run->domain);
    phase_end(PHASE_ADD);
    if (watched)
        say_error(run, "error after step 1");
}

static void start_field(Run *run)
{
    domain_clear(&run->domain);
    fill_initial(&run->domain, &run->exact);
}

/* Allocates what the solver needs, and computes one step, so that every page of memory and all code has been
 * used before the clock starts. */
static void prepare_solver(Run *run)
{
    bool watched = run->config->print_norms;
    exchange_make(&run->exchange, &run->domain);
    compute_forcing(&run->domain, &run->exact, &run->exchange);
    if (watched)
        say_interior(run, "forcing", forcing_of, 1.0);
    if (run->config->verify_only)
        return;
    solver_make(&run->solver, &run->domain);
    start_field(run);
    if (watched)
        say_error(run, "initial error");
    advance(run, watched);
}

/* Returns true if the norms of the field must be kept at each write, as the reference for the dumps. For most
 * runs there is no other: NPB publishes the error norms of dumps for one write interval only. */
static bool needs_memory(const Config *config)
{
    const Class *class = class_like(config->grid, config->steps);
    bool published = class != NULL && class->has_dump_error &&
                     config->write_interval == PUBLISHED_WRITE_INTERVAL &&
                     fabs(config->dt - class->dt) <= 1e-8;
    return !published && !config->io_only && !config->verify_only;
}

void run_prepare(Run *run, const Config *config, MPI_Comm comm)
{
    *run = (Run){.config = config, .cached = config->cold_read ? 0.0 : NAN, .dumps = dump_count(config)};
    domain_make(&run->domain, config->grid, !config->io_only, comm);
    exact_make(&run->exact, config->grid);
    store_make(&run->store, config, &run->domain);
    run->dump_seconds = allocate(run->dumps, sizeof *run->dump_seconds);
    if (run_has_io(run) && needs_memory(config))
        run->memory = allocate(run->dumps, sizeof *run->memory);
    if (!config->io_only)
        prepare_solver(run);
    start_field(run);
}

/* Returns the number that is added to every value of the field in a dump. With io_only the field never
 * changes, so the dump's number makes every dump different. */
static double shift_of(const Run *run, int dump) { return run->config->io_only ? dump : 0.0; }

static bool same_norms(const double a[COMPONENTS], const double b[COMPONENTS])
{
    const double rounding = 1e-13;
    bool same = true;
    for (int m = 0; m < COMPONENTS; m++)
        same = same && fabs(a[m] - b[m]) <= rounding * fabs(b[m]);
    return same;
}

/* Adds the norms of a dump that was just read to the sums for verification; `number` counts all dumps from
 * 0. */
static void examine(Run *run, int number)
{
    double norm[COMPONENTS];
    bool right;
    if (run->config->io_only) {
        long long wrong = store_differences(&run->store, shift_of(run, number));
        MPI_Allreduce(MPI_IN_PLACE, &wrong, 1, MPI_LONG_LONG, MPI_SUM, run->domain.comm);
        run->wrong_values += wrong;
        right = wrong == 0;
    } else {
        error_norm(&run->domain, &run->exact, norm);
        for (int m = 0; m < COMPONENTS; m++)
            run->error_sum[m] += norm[m];
        right = run->memory == NULL || same_norms(norm, run->memory[number]);
        if (run->config->print_norms)
            say_norm(run, "error of the dump", norm);
    }
    if (!right && run->wrong_dump == 0)
        run->wrong_dump = number + 1;
}

/* Reads the next `count` dumps, which are at the beginning of the file. Returns the seconds that this rank
 * spent reading. */
static double read_dumps(Run *run, int count)
{
    double seconds = 0.0;
    Store *store = &run->store;
    for (int at = 0; at < count; at++) {
        run_say(run, " Reading data set  %11d", run->read + 1);
        memset(store->buffer, 0, (size_t)run->domain.points * POINT_BYTES);
        long long calls = store->calls;
        double start = MPI_Wtime();
        phase_begin(PHASE_READ);
        store->method->read(store, at);
        if (!run->config->io_only)
            store_unpack(store);
        phase_end(PHASE_READ);
        double read = MPI_Wtime();
        seconds += read - start;
        run->read_calls += store->calls - calls;
        store_check(store);
        double checked = MPI_Wtime();
        phase_begin(PHASE_VERIFY);
        examine(run, run->read++);
        phase_end(PHASE_VERIFY);
        run->norm_seconds += MPI_Wtime() - checked;
    }
    return seconds;
}

static void write_dump(Run *run, int step)
{
    Store *store = &run->store;
    int interval = run->config->read_interval;
    run_say(run, " Writing data set, time step  %10d", step);
    long long calls = store->calls;
    double start = MPI_Wtime();
    phase_begin(PHASE_WRITE);
    store_pack(store, shift_of(run, run->written));
    store->method->write(store, run->in_file);
    phase_end(PHASE_WRITE);
    run->dump_seconds[run->written] = MPI_Wtime() - start;
    run->io_seconds += run->dump_seconds[run->written];
    run->write_calls += store->calls - calls;
    store_check(store);
    if (run->memory != NULL) {
        double checked = MPI_Wtime();
        phase_begin(PHASE_VERIFY);
        error_norm(&run->domain, &run->exact, run->memory[run->written]);
        phase_end(PHASE_VERIFY);
        run->norm_seconds += MPI_Wtime() - checked;
    }
    run->written++;
    run->in_file++;
    if (interval > 0 && (run->in_file == interval || step == run->config->steps)) {
        run->io_seconds += read_dumps(run, run->in_file);
        run->in_file = 0;
    }
}

static void close_timed(Run *run)
{
    double start = MPI_Wtime();
    phase_begin(PHASE_WRITE);
    store_close(&run->store);
    phase_end(PHASE_WRITE);
    run->io_seconds += MPI_Wtime() - start;
    store_check(&run->store);
}

void run_steps(Run *run)
{
    const Config *config = run->config;
    if (run_has_io(run))
        store_create(&run->store);
    MPI_Barrier(run->domain.comm);
    double start = MPI_Wtime();
    for (int step = 1; step <= config->steps; step++) {
        bool last = step == config->steps;
        if (!config->io_only) {
            if (step % STEPS_PER_LINE == 0 || step == 1 || last)
                run_say(run, " Time step %4d", step);
            advance(run, false);
        }
        if (run_has_io(run) && (step % config->write_interval == 0 || last))
            write_dump(run, step);
    }
    if (run_has_io(run))
        close_timed(run);
    run->total_seconds = MPI_Wtime() - start - run->norm_seconds;
    if (run_has_io(run))
        run->file = result_file(run->store.path);
}

void run_read_back(Run *run)
{
    if (run->config->read_interval > 0)
        return;
    if (run->config->cold_read)
        page_cache_forget_everywhere(run->store.path, run->domain.comm, &run->cached);
    store_reopen(&run->store, run->dumps);
    run->verify_seconds = read_dumps(run, run->dumps);
    store_close(&run->store);
    store_check(&run->store);
}
