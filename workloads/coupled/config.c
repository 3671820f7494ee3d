#include "config.h"

#include "writable.h"

#include <limits.h>

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

const OptionTable COUPLED_OPTIONS = {OPTIONS, sizeof OPTIONS / sizeof OPTIONS[0], USAGE, NOTES};

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

void config_read(Config *config, int argc, char **argv, MPI_Comm comm)
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
