/* btio: NPB's BT solver with BT-IO, from options to exit status. */
#include "config.h"
#include "fail.h"
#include "report.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

static int finish(Run *run)
{
    Trouble trouble = {0};
    bool io = run_has_io(run);
    if (io)
        run_read_back(run);
    Verdict verdict = verify(run);
    Measured measured = report_measure(run);
    report_statistics(run, &measured);
    report_footer(run, &measured, &verdict);
    report_json(run, &measured, &verdict, &trouble);
    if (io && !run->config->keep)
        store_remove(&run->store);
    if (trouble_shared(&trouble, run->domain.comm))
        fail(EXIT_FAILED, "%s", trouble.text);
    return verdict.status == VERIFY_UNSUCCESSFUL ? EXIT_FAILED : EXIT_SUCCESS;
}

int main(int argc, char **argv)
{
    Config config;
    Run run;
    /* A file size limit is an error code like any other. */
    signal(SIGXFSZ, SIG_IGN);
    setvbuf(stdout, NULL, _IOLBF, 0);
    MPI_Init(&argc, &argv);
    config_read(&config, argc, argv, MPI_COMM_WORLD);
    run_prepare(&run, &config, MPI_COMM_WORLD);
    report_header(&run);
    if (!config.verify_only)
        run_steps(&run);
    int status = finish(&run);
    MPI_Finalize();
    return status;
}
