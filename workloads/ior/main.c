#include <errno.h>
#include <stdlib.h>

#include "print.h"
#include "two_phase.h"

/* The result JSON of a test (RESULT.md). */

static void write_extra(Json *json, const void *data)
{
    const Test *test = data;
    json_open(json, "rows", '[');
    for (int i = 0; i < test->count; i++) {
        const Outcome *o = &test->rows[i].outcome;
        json_open(json, NULL, '{');
        json_text(json, "access", print_access(&test->rows[i]));
        json_integer(json, "repetition", o->repetition);
        json_real(json, "open_seconds", o->open);
        json_real(json, "transfer_seconds", o->move);
        json_real(json, "close_seconds", o->close);
        json_real(json, "total_seconds", o->total);
        json_real(json, "latency_seconds", test->rows[i].is_removal ? 0.0 : o->latency);
        json_close(json, '}');
    }
    json_close(json, ']');
    json_integer(json, "wrong_transfers", test->errors);
    json_real(json, "cached_before_read", test->cached);
}

/* Writes the result JSON. Called by rank 0 alone. */
static void record_write(const Test *test, const char *path, Trouble *trouble)
{
    const Settings *s = test->settings;
    Phase *phases = allocate((size_t)test->count + 1, sizeof *phases);
    int count = 0;
    double total = 0.0;
    for (int i = 0; i < test->count; i++) {
        const Outcome *o = &test->rows[i].outcome;
        if (test->rows[i].is_removal)
            continue;
        Phase phase = {print_access(&test->rows[i]), o->bytes, o->bytes / test->team.tasks / s->transfer,
                       o->seconds};
        phase.seconds.max = o->total; /* IOR's bandwidth is the bytes divided by the time from the first open
                                       * to the last close. */
        phases[count++] = phase;
        total += o->total;
    }
    Result result = {
        .workload = "ior",
        .options = &IOR_OPTIONS,
        .config = s,
        .ranks = test->team.tasks,
        .nodes = test->team.nodes,
        .component = strcmp(s->driver, DRIVER_LUSTRE_LIKE) == 0 ? TWO_PHASE_COMPONENT : NULL,
        .requested = s->hints,
        .effective = test->effective,
        .file_count = test->file.path != NULL,
        .files = &test->file,
        .phase_count = count,
        .phases = phases,
        .total_seconds = total,
        .status = test->errors > 0   ? "unsuccessful"
                  : test->checks > 0 ? "successful"
                                     : "not performed",
        .detail = test->checks > 0 ? NULL : "the data was not checked, since neither -W nor -R was given",
        .extra = write_extra,
        .extra_data = test,
    };
    result_write(&result, path, trouble);
    free(phases);
}

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
