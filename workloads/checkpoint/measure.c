#include <math.h>

#include "run.h"

static const double MIB = 1024.0 * 1024.0;

static Statistic statistic_of(const double *values, int count)
{
    Statistic statistic = {0};
    for (int i = 0; i < count; i++)
        statistic.mean += values[i] / count;
    for (int i = 0; i < count; i++)
        statistic.deviation += (values[i] - statistic.mean) * (values[i] - statistic.mean) / count;
    statistic.deviation = sqrt(statistic.deviation);
    return statistic;
}

/* Computes the times over the writers; rank 0 is a writer and has the result. */
static void measure_files(const Run *run, Measured *measured)
{
    MPI_Comm io = run->cube.io;
    double writing = 0.0, moving = 0.0;
    for (int at = 0; at < run->config->problem.trials; at++) {
        const Trial *trial = &run->trials[at];
        const double own[2] = {trial->bytes, trial->io};
        double sum[2];
        MPI_Allreduce(own, sum, 2, MPI_DOUBLE, MPI_SUM, io);
        measured->file[at] = sum[0] > 0.0 && sum[1] > 0.0 ? run->cube.groups * sum[0] / sum[1] / MIB : NAN;
        writing += trial->io;
        moving += trial->mpi;
    }
    measured->io = spread_over_ranks(writing, io);
    measured->mpi = spread_over_ranks(moving, io);
}

Measured measure(const Run *run)
{
    int trials = run->config->problem.trials;
    Measured measured = {
        .megabytes = run_bytes(run) / MIB,
        .real = allocate((size_t)trials, sizeof(double)),
        .file = allocate((size_t)trials, sizeof(double)),
    };
    double open = 0.0, move = 0.0, close = 0.0;
    for (int at = 0; at < trials; at++) {
        const Trial *trial = &run->trials[at];
        measured.real[at] = measured.megabytes / trial->move;
        open += trial->open;
        move += trial->move;
        close += trial->close;
    }
    if (cube_has_io(&run->cube))
        measure_files(run, &measured);
    measured.open = spread_over_ranks(open, run->cube.world);
    measured.move = spread_over_ranks(move, run->cube.world);
    measured.close = spread_over_ranks(close, run->cube.world);
    measured.total = spread_over_ranks(open + move + close, run->cube.world);
    measured.real_statistic = statistic_of(measured.real, trials);
    measured.file_statistic = statistic_of(measured.file, trials);
    MPI_Allreduce(&run->wrong.count, &measured.wrong_values, 1, MPI_LONG_LONG, MPI_SUM, run->cube.world);
    return measured;
}
