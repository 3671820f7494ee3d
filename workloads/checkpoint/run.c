#include "run.h"

#include <math.h>
#include <stdlib.h>

#include "page_cache.h"

static size_t part_cells(const Run *run) { return field_cells(&run->cube) * (size_t)run->cube.levels; }

static float *part_of(const Run *run, int array, int level)
{
    return run->fields + (size_t)array * part_cells(run) + (size_t)level * field_cells(&run->cube);
}

double run_bytes(const Run *run)
{
    const Cube *cube = &run->cube;
    return (double)run->config->problem.arrays * cube->levels * cube->latitudes * cube->edge * sizeof(float);
}

static void fill(Run *run)
{
    const Problem *problem = &run->config->problem;
    for (int array = 0; array < problem->arrays; array++)
        field_fill(&run->cube, array, problem->static_data, part_of(run, array, 0));
}

/* Overwrites the fields, so that no value from before can be taken for one that was read. */
static void blank(Run *run)
{
    memset(run->fields, 0xff, (size_t)run->config->problem.arrays * part_cells(run) * sizeof(float));
}

static void check(Run *run)
{
    const Problem *problem = &run->config->problem;
    for (int array = 0; array < problem->arrays; array++)
        field_check(&run->cube, array, problem->static_data, part_of(run, array, 0), &run->wrong);
    run->checked = true;
}

void run_prepare(Run *run, const Config *config, const Program *program, MPI_Comm world)
{
    const Problem *problem = &config->problem;
    *run = (Run){.config = config, .program = program, .cached = config->cold ? 0.0 : NAN};
    cube_make(&run->cube, problem, world);
    store_make(&run->store, config, &run->cube);
    slab_make(&run->slab, &run->cube, run->store.levels);
    run->fields = allocate((size_t)problem->arrays * part_cells(run), sizeof(float));
    run->trials = allocate((size_t)problem->trials, sizeof *run->trials);
    fill(run);
}

static void transfer(Run *run, bool writing, int array, int level, Trial *trial)
{
    if (run->config->problem.no_io)
        return;
    double start = MPI_Wtime();
    store_move(&run->store, writing, array, level, run->slab.field);
    trial->io += MPI_Wtime() - start;
    trial->bytes += (double)slab_cells(&run->cube, run->cube.group_number, run->store.levels) * sizeof(float);
}

static void move(Run *run, bool writing, int array, int level, Trial *trial)
{
    Slab *slab = &run->slab;
    float *part = part_of(run, array, level);
    bool io = cube_has_io(&run->cube);
    if (writing)
        slab_gather(slab, part);
    if (writing && run->config->problem.barrier)
        MPI_Barrier(run->cube.world);
    if (writing && io)
        slab_unpack(slab);
    if (io)
        transfer(run, writing, array, level, trial);
    if (!writing && io)
        slab_pack(slab);
    if (!writing)
        slab_scatter(slab, part);
    if (!writing && run->config->problem.barrier)
        MPI_Barrier(run->cube.world);
}

/* Waits for all ranks and returns the seconds since the time `from`. */
static double since(const Run *run, double from)
{
    MPI_Barrier(run->cube.world);
    return MPI_Wtime() - from;
}

static void open_timed(Run *run, bool writing, Trial *trial)
{
    store_ready(&run->store, writing);
    MPI_Barrier(run->cube.world);
    double start = MPI_Wtime();
    store_open(&run->store, writing);
    trial->open = since(run, start);
    store_check(&run->store);
}

static void move_timed(Run *run, bool writing, Trial *trial)
{
    const Problem *problem = &run->config->problem;
    double moved_before = run->slab.moving;
    MPI_Barrier(run->cube.world);
    double start = MPI_Wtime();
    for (int array = 0; array < problem->arrays; array++)
        for (int level = 0; level < problem->lm; level += run->store.levels)
            move(run, writing, array, level, trial);
    trial->move = since(run, start);
    trial->mpi = run->slab.moving - moved_before;
    store_check(&run->store);
}

static void close_timed(Run *run, Trial *trial)
{
    MPI_Barrier(run->cube.world);
    double start = MPI_Wtime();
    store_close(&run->store);
    trial->close = since(run, start);
    store_check(&run->store);
}

/* Performs one trial and returns its times. Without writes there is no file; without reads the file is still
 * opened, as in the original. */
static Trial perform(Run *run, bool writing)
{
    Trial trial = {0};
    bool with_file = !(writing && run->config->problem.no_io);
    if (with_file)
        open_timed(run, writing, &trial);
    move_timed(run, writing, &trial);
    if (with_file)
        close_timed(run, &trial);
    trial.total = trial.open + trial.move + trial.close;
    return trial;
}

/* Drops all files from the page caches of all ranks' nodes, because any node may hold a part of any file. */
static void forget(Run *run)
{
    for (int number = 0; number < run->store.files; number++) {
        char path[PATH_MAX];
        store_path(&run->store, number, path);
        page_cache_forget_everywhere(path, run->cube.world, &run->cached);
    }
}

static void read_and_check(Run *run, Trial *trial)
{
    blank(run);
    *trial = perform(run, false);
    if (!run->config->problem.no_io)
        check(run);
}

void run_trials(Run *run)
{
    const Config *config = run->config;
    bool reads = run->program->reads;
    Trial untimed;
    if (reads && config->both)
        perform(run, true);
    run->store.calls = 0;
    for (int at = 0; at < config->problem.trials; at++) {
        if (run->cube.rank == 0)
            printf(" Trial %12d\n", at + 1);
        if (reads && config->cold)
            forget(run);
        if (reads)
            read_and_check(run, &run->trials[at]);
        else
            run->trials[at] = perform(run, true);
    }
    long long calls = run->store.calls;
    if (!reads && config->both)
        read_and_check(run, &untimed);
    run->store.calls = calls;
    abandon_none();
}
