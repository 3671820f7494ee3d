/* btio: the main program. It runs NPB's BT solver with BT-IO, or BT's I/O pattern without the solver. */
#include <stdlib.h>

#include "fail.h"
#include "pattern.h"
#include "run.h"

static int finish(Run *run)
{
    Trouble trouble = {0};
    bool io = run_has_io(run);
    if (io && !run->config->write_only)
        run_read_back(run);
    Verdict verdict = verify(run);
    Measured measured = report_measure(run);
    report_statistics(run, &measured);
    report_footer(run, &measured, &verdict);
    report_json(run, &measured, &verdict, &trouble);
    if (io && !run->config->keep)
        store_remove(&run->store);
    fail_if_trouble(EXIT_FAILED, &trouble, run->domain.comm);
    return verdict.status == VERIFY_UNSUCCESSFUL ? EXIT_FAILED : EXIT_SUCCESS;
}

static int solve(int argc, char **argv)
{
    Config config;
    Run run;
    config_read(&config, argc, argv, MPI_COMM_WORLD);
    run_prepare(&run, &config, MPI_COMM_WORLD);
    report_header(&run);
    if (!config.verify_only)
        run_steps(&run);
    return finish(&run);
}

int main(int argc, char **argv)
{
    begin_program(&argc, &argv);
    bool pattern = pattern_wanted(argc, argv, MPI_COMM_WORLD);
    int status = pattern ? pattern_main(argc, argv, MPI_COMM_WORLD) : solve(argc, argv);
    MPI_Finalize();
    return status;
}
