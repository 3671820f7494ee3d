#include <stdlib.h>
#include <time.h>

#include "config.h"
#include "run.h"

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static int run_simulator(const Program *program, const Config *config, double start)
{
    Run run;
    Trouble trouble = {0};
    run_prepare(&run, config, program, MPI_COMM_WORLD);
    run_trials(&run);
    double seconds = now() - start;
    Measured measured = measure(&run);
    summary_print(&run, &measured, seconds);
    summary_json(&run, &measured, seconds, &trouble);
    if (config->remove)
        store_remove(&run.store);
    fail_if_trouble(EXIT_FAILED, &trouble, MPI_COMM_WORLD);
    return measured.wrong_values > 0 ? EXIT_FAILED : EXIT_SUCCESS;
}

int simulate(const Program *program, int argc, char **argv)
{
    Config config;
    double start = now();
    begin_program(&argc, &argv);
    config_read(&config, program, argc, argv, MPI_COMM_WORLD);
    int status = config.mode != NULL ? kernel_run(program, &config, MPI_COMM_WORLD)
                                     : run_simulator(program, &config, start);
    MPI_Finalize();
    return status;
}
