#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "print.h"
#include "record.h"

/* Opens the output for all tests: the summary file that the first test names, or standard output. */
static void open_output(const Settings *settings, MPI_Comm comm)
{
    Trouble trouble = {0};
    int rank;
    MPI_Comm_rank(comm, &rank);
    print_out = stdout;
    if (rank == 0 && settings->summary_file != NULL) {
        print_out = fopen(settings->summary_file, "w");
        if (print_out == NULL)
            trouble_note(&trouble, "cannot write %s: %s", settings->summary_file, strerror(errno));
    }
    fail_if_trouble(EXIT_FAILED, &trouble, comm);
}

static Test run_test(const Settings *settings, int number, const Format *format, Trouble *trouble)
{
    Team team = team_make(settings, MPI_COMM_WORLD);
    Test test = {.settings = settings, .team = team};
    if (team.comm != MPI_COMM_NULL) {
        if (team.rank == 0)
            format->test(settings, &team, number);
        if (!settings->dry)
            test = test_run(settings, &team, number, format->row, trouble);
        if (team.rank == 0)
            format->test_end(&test);
    }
    team_free(&team);
    return test;
}

int main(int argc, char **argv)
{
    int rank;
    Trouble trouble = {0};
    begin_program(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    Tests tests = settings_read(argc, argv, MPI_COMM_WORLD);
    const Format *format = format_named(tests.list[0].summary_format);
    open_output(&tests.list[0], MPI_COMM_WORLD);
    if (rank == 0)
        format->begin(argc, argv, &tests.list[0]);
    Test *done = allocate((size_t)tests.count, sizeof *done);
    int64_t errors = 0;
    int count = 0;
    while (count < tests.count && !trouble_shared(&trouble, MPI_COMM_WORLD)) {
        done[count] = run_test(&tests.list[count], count, format, &trouble);
        errors += done[count++].errors;
    }
    if (!trouble_shared(&trouble, MPI_COMM_WORLD) && rank == 0) {
        format->end(done, count);
        if (tests.list[count - 1].json != NULL)
            record_write(&done[count - 1], tests.list[count - 1].json, &trouble);
        if (print_out != stdout && fclose(print_out) != 0)
            trouble_note(&trouble, "cannot write %s: %s", tests.list[0].summary_file, strerror(errno));
    }
    fail_if_trouble(EXIT_FAILED, &trouble, MPI_COMM_WORLD);
    MPI_Bcast(&errors, 1, MPI_INT64_T, 0, MPI_COMM_WORLD);
    if (errors > 0)
        fail(EXIT_FAILED, "%lld transfers hold wrong data", (long long)errors);
    free(done);
    MPI_Finalize();
    return EXIT_SUCCESS;
}
