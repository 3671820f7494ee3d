#include <stdlib.h>

#include "run.h"
#include "writable.h"

enum { WORD = sizeof(uint64_t) };

static const char USAGE[] =
    "alignment: strided collective writes and reads with file domains of three kinds\n"
    "usage: mpirun -np P alignment [options]\n\n";

static const char NOTES[] =
    "\nHints used: cb_nodes, cb_buffer_size, striping_unit, romio_lustre_co_ratio.\n"
    "Data file: DIR/alignment.out. Exit status: 0 verified, 1 wrong data or I/O error, 2 bad usage.\n";

// clang-format off
static const Option OPTIONS[] = {
    {"align", OPTION_COUNT, offsetof(Config, align), "KIND", "file domains: 0 even, 1 edges on stripe boundaries, 2 stripes\n"
     "                               bound to aggregators"},
    {"transfer", OPTION_SIZE, offsetof(Config, transfer), "BYTES", "what each rank moves in a collective call", 't'},
    {"segments", OPTION_COUNT, offsetof(Config, segments), "N", "collective calls", 's'},
    {"directory", OPTION_TEXT, offsetof(Config, directory), "DIR", "where the data file goes"},
    {"hints-file", OPTION_TEXT, offsetof(Config, hints_file), "FILE", "MPI-IO hints, one key=value a line"},
    {"hint", OPTION_HINT, offsetof(Config, hints), "KEY=VALUE", "one MPI-IO hint (repeatable; 16M means bytes)"},
    {"fsync", OPTION_FLAG, offsetof(Config, fsync), NULL, "flush the data to storage before the timed close"},
    {"keep", OPTION_FLAG, offsetof(Config, keep), NULL, "leave the data file in place"},
    {"log", OPTION_TEXT, offsetof(Config, log), "FILE", "write a line for each write of an aggregator (CSV)"},
    {"json", OPTION_TEXT, offsetof(Config, json), "FILE", "write the result as JSON (-: to standard output)"},
    {"help", OPTION_FLAG, offsetof(Config, help), NULL, "print this"},
};
// clang-format on

const OptionTable ALIGNMENT_OPTIONS = {OPTIONS, sizeof OPTIONS / sizeof OPTIONS[0], USAGE, NOTES};

static const Config DEFAULTS = {.transfer = 1000000, .segments = 32, .directory = "."};

static void check(const Config *config, Trouble *trouble)
{
    if (config->align >= DOMAINS_COUNT)
        trouble_note(trouble, "--align %d: the value must be 0, 1 or 2", config->align);
    if (config->transfer < WORD || config->transfer % WORD != 0 || config->transfer > INT_MAX)
        trouble_note(trouble, "--transfer %lld: a multiple of %d bytes, at most %d, is needed",
                     (long long)config->transfer, WORD, INT_MAX);
    if (config->segments < 1)
        trouble_note(trouble, "--segments 0: the number must be at least 1");
    two_phase_check_hints(&config->hints, trouble);
}

/* Checks that files can be made at the paths in the options. Called by rank 0. */
static void check_places(const Config *config, Trouble *trouble)
{
    writable_folder("directory", config->directory, trouble);
    writable_file("json", config->json, trouble);
    writable_file("log", config->log, trouble);
}

void config_read(Config *config, int argc, char **argv, MPI_Comm comm)
{
    int rank;
    Trouble trouble = {0};
    MPI_Comm_rank(comm, &rank);
    *config = DEFAULTS;
    options_parse(&ALIGNMENT_OPTIONS, argc, argv, config, &trouble);
    if (!trouble.any && config->help)
        options_help(&ALIGNMENT_OPTIONS, &DEFAULTS, comm);
    if (config->hints_file != NULL)
        hints_read_below(&config->hints, config->hints_file, &trouble);
    check(config, &trouble);
    if (rank == 0)
        check_places(config, &trouble);
    fail_if_trouble(EXIT_USAGE, &trouble, comm);
}
