/* metadata: the main program. It creates many small files, asks for their status, reads and removes them. */
#include <stdlib.h>

#include "run.h"

int main(int argc, char **argv)
{
    Config config;
    Run run;
    Trouble trouble = {0};
    begin_program(&argc, &argv);
    config_read(&config, argc, argv, MPI_COMM_WORLD);
    run_prepare(&run, &config, MPI_COMM_WORLD);
    int nodes = count_nodes(MPI_COMM_WORLD);
    report_header(&run, nodes);
    run_all(&run, &trouble);
    if (!trouble.any) {
        report_table(&run);
        report_json(&run, nodes, &trouble);
    }
    fail_if_trouble(EXIT_FAILED, &trouble, MPI_COMM_WORLD);
    run_free(&run);
    MPI_Finalize();
    return EXIT_SUCCESS;
}
