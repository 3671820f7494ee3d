/* alignment: the main program. It measures what the edges of file domains cost in collective writes. */
#include <stdlib.h>

#include "run.h"

int main(int argc, char **argv)
{
    Config config;
    Run run;
    begin_program(&argc, &argv);
    config_read(&config, argc, argv, MPI_COMM_WORLD);
    run_all(&run, &config, MPI_COMM_WORLD);
    report(&run);
    MPI_Finalize();
    return run.wrong == 0 ? EXIT_SUCCESS : EXIT_FAILED;
}
