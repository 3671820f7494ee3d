/* coupled: imitates the steps of a climate model. Rank 0 reads the forcing of a step and broadcasts it; then
 * the last rank writes the step's history while the others compute; a barrier ends the step. With --ahead,
 * rank 0 reads the next step's forcing while the others compute. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "result.h"
#include "writable.h"

/* The configuration of a run of the program coupled. */

typedef struct Config {
    int steps;
    double compute; /* Seconds that a rank computes in a step. */
    int64_t forcing, history;
    const char *directory, *json;
    bool ahead, keep, help;
} Config;

static const char USAGE[] =
    "coupled: steps of a model in which one rank reads for all and another one writes\n"
    "usage: mpirun -np P coupled [options]\n\n";

static const char NOTES[] =
    "\nData files: DIR/forcing and DIR/history. Exit status: 0 done, 1 I/O error, 2 bad usage.\n";

// clang-format off
static const Option OPTIONS[] = {
    {"steps", OPTION_COUNT, offsetof(Config, steps), "N", "time steps", 's'},
    {"compute", OPTION_REAL, offsetof(Config, compute), "SECONDS", "computing time of a step on ranks without I/O", 'c'},
    {"forcing", OPTION_SIZE, offsetof(Config, forcing), "BYTES", "what rank 0 reads for all ranks before each step", 'f'},
    {"history", OPTION_SIZE, offsetof(Config, history), "BYTES", "what the last rank writes during each step", 'w'},
    {"ahead", OPTION_FLAG, offsetof(Config, ahead), NULL, "rank 0 reads for the next step while the others compute"},
    {"directory", OPTION_TEXT, offsetof(Config, directory), "DIR", "where the data files go"},
    {"keep", OPTION_FLAG, offsetof(Config, keep), NULL, "leave the data files in place"},
    {"json", OPTION_TEXT, offsetof(Config, json), "FILE", "write the result as JSON (-: to standard output)"},
    {"help", OPTION_FLAG, offsetof(Config, help), NULL, "print this"},
};
// clang-format on

static const OptionTable COUPLED_OPTIONS = {OPTIONS, sizeof OPTIONS / sizeof OPTIONS[0], USAGE, NOTES};

static const Config DEFAULTS = {
    .steps = 10, .compute = 0.25, .forcing = 2 << 20, .history = 4 << 20, .directory = "."};

static void check(const Config *config, int ranks, Trouble *trouble)
{
    if (ranks < 3)
        trouble_note(trouble, "%d ranks: one that reads, one that writes and one that computes are needed",
                     ranks);
    if (config->steps < 1)
        trouble_note(trouble, "--steps 0: at least 1 is needed");
    if (config->forcing < 1 || config->forcing > INT_MAX)
        trouble_note(trouble, "--forcing %lld: from 1 byte to %d bytes are possible",
                     (long long)config->forcing, INT_MAX);
    if (config->history < 1)
        trouble_note(trouble, "--history 0: at least 1 byte is needed");
}

/* Parses and checks the options. Ends the program on bad input or --help. Collective. */
static void config_read(Config *config, int argc, char **argv, MPI_Comm comm)
{
    Trouble trouble = {0};
    int rank, ranks;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &ranks);
    *config = DEFAULTS;
    options_parse(&COUPLED_OPTIONS, argc, argv, config, &trouble);
    if (!trouble.any && config->help)
        options_help(&COUPLED_OPTIONS, &DEFAULTS, comm);
    check(config, ranks, &trouble);
    if (rank == 0) {
        writable_folder("directory", config->directory, &trouble);
        writable_file("json", config->json, &trouble);
    }
    fail_if_trouble(EXIT_USAGE, &trouble, comm);
}

enum { FORCING, HISTORY, FILES };
static const char *const NAMES[FILES] = {"forcing", "history"};

typedef struct Run {
    const Config *config;
    int rank, last;
    char path[FILES][PATH_MAX];
    int file; /* Descriptor of the file that this rank reads or writes; -1 on other ranks. */
    char *forcing, *history;
} Run;

static void note(Trouble *trouble, const char *what, const char *path)
{
    trouble_note(trouble, "cannot %s %s: %s", what, path, strerror(errno));
}

/* Opens the files on the ranks that use them. The file with the forcing is one hole, so that making it takes
 * no time. */
static void prepare(Run *run, const Config *config, Trouble *trouble)
{
    int ranks, which;
    MPI_Comm_rank(MPI_COMM_WORLD, &run->rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    run->config = config;
    run->last = ranks - 1;
    run->file = -1;
    run->forcing = allocate((size_t)config->forcing, 1);
    run->history = run->rank == run->last ? allocate((size_t)config->history, 1) : NULL;
    for (int i = 0; i < FILES; i++)
        snprintf(run->path[i], sizeof run->path[i], "%s/%s", config->directory, NAMES[i]);
    if (run->rank != 0 && run->rank != run->last)
        return;
    which = run->rank == 0 ? FORCING : HISTORY;
    run->file = open(run->path[which], O_RDWR | O_CREAT | O_TRUNC, 0600);
    if (run->file < 0)
        note(trouble, "open", run->path[which]);
    else if (which == FORCING && ftruncate(run->file, config->steps * config->forcing) != 0)
        note(trouble, "lengthen", run->path[which]);
}

static void read_forcing(Run *run, int step, Trouble *trouble)
{
    int64_t bytes = run->config->forcing;
    if (pread(run->file, run->forcing, (size_t)bytes, step * bytes) != bytes)
        note(trouble, "read", run->path[FORCING]);
}

static void write_history(Run *run, int step, Trouble *trouble)
{
    int64_t bytes = run->config->history;
    if (pwrite(run->file, run->history, (size_t)bytes, step * bytes) != bytes || fsync(run->file) != 0)
        note(trouble, "write", run->path[HISTORY]);
}

/* Sleeps for as long as a computation would take. A real computation would make the ranks compete for the
 * cores of a small machine. */
static void compute(double seconds)
{
    struct timespec time = {(time_t)seconds, (long)(1e9 * (seconds - (double)(time_t)seconds))};
    nanosleep(&time, NULL);
}

static void take_step(Run *run, int step, Trouble *trouble)
{
    const Config *config = run->config;
    bool reads = run->rank == 0;
    if (reads && (step == 0 || !config->ahead))
        read_forcing(run, step, trouble);
    MPI_Bcast(run->forcing, (int)config->forcing, MPI_BYTE, 0, MPI_COMM_WORLD);
    if (reads && config->ahead && step + 1 < config->steps)
        read_forcing(run, step + 1, trouble);
    else if (run->rank == run->last)
        write_history(run, step, trouble);
    else if (!reads)
        compute(config->compute);
    MPI_Barrier(MPI_COMM_WORLD);
}

/* Closes the files, and removes them unless they are to be kept. The barrier lets rank 0 read facts about
 * both files first. */
static void finish(Run *run)
{
    MPI_Barrier(MPI_COMM_WORLD);
    if (run->file >= 0) {
        close(run->file);
        if (!run->config->keep)
            unlink(run->path[run->rank == 0 ? FORCING : HISTORY]);
    }
    free(run->forcing);
    free(run->history);
}

static void write_extra(Json *json, const void *data)
{
    const Config *config = data;
    json_integer(json, "forcing_bytes", config->steps * config->forcing);
}

static void report(const Run *run, double seconds, Trouble *trouble)
{
    const Config *config = run->config;
    Phase phase = {"write", config->steps * config->history, config->steps,
                   spread_over_ranks(seconds, MPI_COMM_WORLD)};
    int nodes = count_nodes(MPI_COMM_WORLD);
    if (run->rank != 0)
        return;
    ResultFile files[FILES] = {result_file(run->path[FORCING]), result_file(run->path[HISTORY])};
    printf("coupled, iolens %s: %d steps of %d ranks in %.3f s\n", VERSION, config->steps, run->last + 1,
           phase.seconds.max);
    Result result = {.workload = "coupled",
                     .options = &COUPLED_OPTIONS,
                     .config = config,
                     .ranks = run->last + 1,
                     .nodes = nodes,
                     .file_count = FILES,
                     .files = files,
                     .phase_count = 1,
                     .phases = &phase,
                     .total_seconds = phase.seconds.max,
                     .status = "not performed",
                     .detail = "the contents of the files mean nothing",
                     .extra = write_extra,
                     .extra_data = config};
    if (config->json != NULL)
        result_write(&result, config->json, trouble);
    for (int i = 0; i < FILES; i++)
        free(files[i].path);
}

int main(int argc, char **argv)
{
    Config config;
    Run run;
    Trouble trouble = {0};
    begin_program(&argc, &argv);
    config_read(&config, argc, argv, MPI_COMM_WORLD);
    prepare(&run, &config, &trouble);
    fail_if_trouble(EXIT_FAILED, &trouble, MPI_COMM_WORLD);
    MPI_Barrier(MPI_COMM_WORLD);
    double begin = MPI_Wtime();
    for (int step = 0; step < config.steps; step++)
        take_step(&run, step, &trouble);
    report(&run, MPI_Wtime() - begin, &trouble);
    finish(&run);
    fail_if_trouble(EXIT_FAILED, &trouble, MPI_COMM_WORLD);
    MPI_Finalize();
    return EXIT_SUCCESS;
}
