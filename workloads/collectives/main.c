/* collectives: the main program. It measures the latencies of MPI's collective operations and of messages. */
#include <stdlib.h>

#include "run.h"

/* Calls each operation once before the measurement, because some components of the MPI library create
 * communicators at their first call, and print messages about them. */
static void call_each_once(MPI_Comm comm)
{
    const Element *element = element_named("double");
    for (int i = 0; i < OPERATION_COUNT; i++) {
        Exchange exchange = exchange_make(&OPERATIONS[i], element, element->size, comm);
        exchange_fill(&OPERATIONS[i], &exchange);
        OPERATIONS[i].call(&exchange);
        exchange_free(&exchange);
    }
}

static void refuse_crowd(const Run *run)
{
    const Crowd *crowd = &run->crowd;
    if (crowd->oversubscribed && !run->config->oversubscribed)
        fail(EXIT_USAGE,
             "%d ranks share %d processors of a node, so the latencies would measure the scheduler; use at "
             "most %d ranks there, or add --oversubscribed to run anyway",
             crowd->ranks, crowd->processors, crowd->processors);
}

static int finish(Run *run)
{
    Trouble trouble = {0};
    report_footer(run);
    report_json(run, &trouble);
    fail_if_trouble(EXIT_FAILED, &trouble, run->comm);
    long long errors = run_errors(run);
    free(run->latencies);
    return errors == 0 ? EXIT_SUCCESS : EXIT_FAILED;
}

int main(int argc, char **argv)
{
    Config config;
    Run run = {.config = &config};
    setvbuf(stdout, NULL, _IOLBF, 0);
    selection_begin();
    MPI_Init(&argc, &argv);
    run.comm = MPI_COMM_WORLD;
    MPI_Comm_rank(run.comm, &run.rank);
    MPI_Comm_size(run.comm, &run.ranks);
    run.crowd = crowd_of(run.comm);
    call_each_once(run.comm);
    run.selection = selection_end();
    config_read(&config, argc, argv, run.comm);
    refuse_crowd(&run);
    run.variable_count = library_variables(run.variables, VARIABLES_MAX);
    report_header(&run);
    run_all(&run, report_latency);
    int status = finish(&run);
    MPI_Finalize();
    return status;
}
