#include "kernel.h"

#include "abandon.h"
#include "cube.h"
#include "field.h"
#include "kernel_report.h"
#include "scratch.h"
#include "store.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const KernelMode MODES[] = {{"raw_bw", false, true}, {"gatherv", true, false}, {"combo", true, true}};

static const KernelMode *mode_named(const char *name)
{
    for (size_t i = 0; i < sizeof MODES / sizeof MODES[0]; i++)
        if (strcmp(MODES[i].name, name) == 0)
            return &MODES[i];
    return NULL;
}

static long long cells_of(const Problem *problem)
{
    return (long long)problem->nx * problem->nx * FACES * problem->lm;
}

void kernel_check(const Config *config, int ranks, Trouble *trouble)
{
    const Problem *problem = &config->problem;
    if (mode_named(config->mode) == NULL)
        trouble_note(trouble, "--mode %s: unknown; the modes are raw_bw, gatherv and combo", config->mode);
    if (strcmp(config->file_type, "binary") != 0 && strcmp(config->file_type, "netcdf") != 0)
        trouble_note(trouble, "--file_type %s: unknown; the types are binary and netcdf", config->file_type);
    if (problem->nx < 1 || problem->nx > INT_MAX / FACES || problem->lm < 1 || problem->trials < 1)
        trouble_note(trouble, "--nx, --n_levs and --n_tries must be at least 1; they are %d, %d and %d",
                     problem->nx, problem->lm, problem->trials);
    else if (problem->io_ranks < 1 || problem->io_ranks > ranks)
        trouble_note(trouble, "--n_writers %d: from 1 to the %d ranks", problem->io_ranks, ranks);
    else if (cells_of(problem) / problem->io_ranks * (long long)sizeof(float) > FORTRAN_RECORD_MAX)
        trouble_note(trouble, "a packet of more than %d bytes for each writer: use more writers",
                     FORTRAN_RECORD_MAX);
}

static void make(Kernel *kernel, const Config *config, MPI_Comm world)
{
    const Problem *problem = &config->problem;
    *kernel = (Kernel){.config = config, .mode = mode_named(config->mode), .world = world};
    MPI_Comm_rank(world, &kernel->rank);
    MPI_Comm_size(world, &kernel->ranks);
    int group = (int)((long long)kernel->rank * problem->io_ranks / kernel->ranks), rank_in_group;
    MPI_Comm_split(world, group, kernel->rank, &kernel->group);
    MPI_Comm_rank(kernel->group, &rank_in_group);
    MPI_Comm_size(kernel->group, &kernel->members);
    kernel->writes = rank_in_group == 0;
    MPI_Comm_split(world, kernel->writes ? 0 : MPI_UNDEFINED, kernel->rank, &kernel->writers);
    kernel->packet_cells = cells_of(problem) / problem->io_ranks;
    kernel->own_cells = cells_of(problem) / kernel->ranks;
    kernel->own = allocate((size_t)kernel->own_cells, sizeof(float));
    for (long long at = 0; at < kernel->own_cells; at++)
        kernel->own[at] = (float)kernel->rank + (float)(at % 1024) / 1024;
    if (kernel->writes)
        kernel->packet = allocate((size_t)kernel->packet_cells, sizeof(float));
    if (kernel->writes)
        snprintf(kernel->path, sizeof kernel->path, "%s/scratch.%05d", config->directory, group);
    kernel->counts = allocate((size_t)kernel->members, sizeof(int));
    kernel->starts = allocate((size_t)kernel->members, sizeof(int));
    for (int at = 0; at < kernel->members; at++) {
        kernel->counts[at] = (int)kernel->own_cells;
        kernel->starts[at] = (int)(at * kernel->own_cells);
    }
}

/* Checks that the data from each rank of the group equals the data with which that rank filled its part. */
static void check_gathered(Kernel *kernel, const float *gathered)
{
    for (int at = 0; at < kernel->members; at++)
        for (long long cell = 0; cell < kernel->own_cells; cell++)
            kernel->wrong_values += gathered[at * kernel->own_cells + cell] !=
                                    (float)(kernel->rank + at) + (float)(cell % 1024) / 1024;
}

/* Gathers the cells of a group on its writer, and returns the seconds. As in the original, the time includes
 * allocating the receiving buffer. */
static double gather(Kernel *kernel)
{
    size_t received = kernel->writes ? (size_t)(kernel->own_cells * kernel->members) : 0;
    MPI_Barrier(kernel->group);
    double start = MPI_Wtime();
    float *gathered = malloc(received * sizeof *gathered + 1);
    if (gathered == NULL)
        fail_alone("out of memory: %zu cells are needed at once; use more writers", received);
    MPI_Gatherv(kernel->own, (int)kernel->own_cells, MPI_FLOAT, gathered, kernel->counts, kernel->starts,
                MPI_FLOAT, 0, kernel->group);
    MPI_Barrier(kernel->group);
    double seconds = MPI_Wtime() - start;
    if (kernel->writes)
        check_gathered(kernel, gathered);
    free(gathered);
    return seconds;
}

static double write_packet(Kernel *kernel, Trouble *trouble)
{
    bool netcdf = strcmp(kernel->config->file_type, "netcdf") == 0;
    if (!kernel->writes)
        return 0.0;
    abandon_none();
    if (access(kernel->path, F_OK) != 0)
        abandon_add(kernel->path);
    MPI_Barrier(kernel->writers);
    double start = MPI_Wtime();
    scratch_write(kernel->path, netcdf, kernel->packet, (size_t)kernel->packet_cells, trouble);
    MPI_Barrier(kernel->writers);
    return MPI_Wtime() - start;
}

int kernel_run(const Program *program, const Config *config, MPI_Comm world)
{
    Kernel kernel;
    Trouble trouble = {0};
    make(&kernel, config, world);
    int tries = config->problem.trials;
    KernelTimes *times = allocate((size_t)tries, sizeof *times);
    kernel_report_header(&kernel);
    for (int at = 0; at < tries; at++) {
        if (kernel.mode->gathers)
            times[at].gather = gather(&kernel);
        if (kernel.mode->writes)
            times[at].write = write_packet(&kernel, &trouble);
        fail_if_trouble(EXIT_FAILED, &trouble, world);
    }
    abandon_none();
    MPI_Allreduce(MPI_IN_PLACE, &kernel.wrong_values, 1, MPI_LONG_LONG, MPI_SUM, world);
    kernel_report_row(&kernel, times);
    kernel_report_json(&kernel, program, times, &trouble);
    fail_if_trouble(EXIT_FAILED, &trouble, world);
    if (kernel.wrong_values > 0)
        fail(EXIT_FAILED, "%lld gathered values are wrong", kernel.wrong_values);
    return EXIT_SUCCESS;
}
