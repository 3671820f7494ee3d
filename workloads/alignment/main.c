/* alignment: what the edges of file domains cost in collective writes, from options to exit status. */
#include "config.h"
#include "report.h"
#include "run.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    Config config;
    Run run;
    /* Ignored, so that reaching a file size limit is an error code of the write and not the end of the
     * program. */
    signal(SIGXFSZ, SIG_IGN);
    setvbuf(stdout, NULL, _IOLBF, 0);
    MPI_Init(&argc, &argv);
    config_read(&config, argc, argv, MPI_COMM_WORLD);
    run_all(&run, &config, MPI_COMM_WORLD);
    report(&run);
    MPI_Finalize();
    return run.wrong == 0 ? EXIT_SUCCESS : EXIT_FAILED;
}
