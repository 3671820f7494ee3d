/* metadata: many small files created, looked at, read and removed, from options to exit status. */
#include "fail.h"
#include "report.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    Config config;
    Run run;
    Trouble trouble = {0};
    /* Ignored, so that reaching a file size limit is an error code of the write and not the end of the
     * program. */
    signal(SIGXFSZ, SIG_IGN);
    setvbuf(stdout, NULL, _IOLBF, 0);
    MPI_Init(&argc, &argv);
    config_read(&config, argc, argv, MPI_COMM_WORLD);
    run_prepare(&run, &config, MPI_COMM_WORLD);
    int nodes = count_nodes(MPI_COMM_WORLD);
    report_header(&run, nodes);
    run_all(&run, &trouble);
    if (!trouble.any) {
        report_table(&run);
        report_json(&run, nodes, &trouble);
    }
    if (trouble_shared(&trouble, MPI_COMM_WORLD))
        fail(EXIT_FAILED, "%s", trouble.text);
    run_free(&run);
    MPI_Finalize();
    return EXIT_SUCCESS;
}
