#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "fail.h"
#include "pattern.h"

/* Northwestern's inputbt.data: w or r; method 0..3; number of dumps; nx ny nz; directory. What follows the
 * values on a line is ignored. */

enum { DIRECTORY_LONGEST = 512 };

/* Values that rank 0 read, in the form of a broadcast. */
typedef struct PatternInput {
    char operation; /* The operation: w (write) or r (read). */
    char method[16];
    int dumps, grid[3];
    char directory[DIRECTORY_LONGEST + 1];
} PatternInput;

enum { LINES = 5, LINE_LONGEST = 1024 };

/* Returns true if the file at `path` exists and begins with w or r. */
static bool pattern_input_like(const char *path)
{
    char word[LINE_LONGEST] = "";
    FILE *file = fopen(path, "r");
    bool like = file != NULL && fscanf(file, "%1023s", word) == 1 && (word[0] == 'w' || word[0] == 'r');
    if (file != NULL)
        fclose(file);
    return like;
}

static void need(bool there, const char *path, int line, const char *what, Trouble *trouble)
{
    if (!there)
        trouble_note(trouble, "%s, line %d: %s expected", path, line, what);
}

/* Reads the file. Called by one rank. */
static PatternInput pattern_input_read(const char *path, Trouble *trouble)
{
    PatternInput input = {0};
    char line[LINES][LINE_LONGEST] = {0};
    FILE *file = fopen(path, "r");
    if (file == NULL) {
        trouble_note(trouble, "cannot read the input file %s: %s", path, strerror(errno));
        return input;
    }
    for (int i = 0; i < LINES && fgets(line[i], LINE_LONGEST, file) != NULL; i++)
        continue;
    fclose(file);
    bool operation = sscanf(line[0], " %c", &input.operation) == 1;
    need(operation && (input.operation == 'w' || input.operation == 'r'), path, 1, "w or r", trouble);
    need(sscanf(line[1], " %15[0-9]", input.method) == 1, path, 2, "a method, 0 to 3,", trouble);
    need(sscanf(line[2], "%d", &input.dumps) == 1, path, 3, "the number of dumps", trouble);
    need(sscanf(line[3], "%d%*[, \t]%d%*[, \t]%d", &input.grid[0], &input.grid[1], &input.grid[2]) == 3, path,
         4, "the grid points nx ny nz", trouble);
    need(sscanf(line[4], "%512s", input.directory) == 1, path, 5, "a directory", trouble);
    return input;
}

static const char USAGE[] =
    "btio: the I/O pattern of BT without its solver, through MPI-IO or PnetCDF (Northwestern's BTIO)\n"
    "usage: mpirun -np P btio --method NAME [options]      P must be a square number: 1, 4, 9, 16, ...\n"
    "       mpirun -np P btio inputbt.data [options]       w or r / method 0-3 / dumps / NX NY NZ / "
    "directory\n\n";

static const char NOTES[] = "\nData file: DIR/btio.mpi or DIR/btio.nc; `both` removes it at the end unless "
                            "--keep, `write` leaves it.\n"
                            "Exit status: 0 verified or written, 1 wrong data or I/O error, 2 bad usage.\n"
                            "BT with its solver and NPB's methods: btio --class S --help.\n";

// clang-format off
static const Option OPTIONS[] = {
    {"method", OPTION_TEXT, offsetof(PatternConfig, method), "NAME", "0 mpi-collective, 1 mpi-independent, 2 pnetcdf (blocking),\n"
     "                               3 pnetcdf-nonblocking"},
    {"operation", OPTION_TEXT, offsetof(PatternConfig, operation), "NAME", "write, read (the file that a `write` left) or both"},
    {"grid", OPTION_GRID, offsetof(PatternConfig, grid), "NX,NY,NZ", "grid points in each direction [64,64,64]"},
    {"dumps", OPTION_COUNT, offsetof(PatternConfig, dumps), "N", "times the field is written or read"},
    {"directory", OPTION_TEXT, offsetof(PatternConfig, directory), "DIR", "where the data file goes"},
    {"per-cell", OPTION_FLAG, offsetof(PatternConfig, per_cell), NULL, "MPI methods: one call for each cell, sqrt(P) a dump, instead of one"},
    {"no-check", OPTION_FLAG, offsetof(PatternConfig, no_check), NULL, "write the same data in every dump and check none, so that the clock never pauses"},
    {"hints-file", OPTION_TEXT, offsetof(PatternConfig, hints_file), "FILE", "MPI-IO hints, one key=value a line"},
    {"hint", OPTION_HINT, offsetof(PatternConfig, hints), "KEY=VALUE", "one MPI-IO or PnetCDF hint (repeatable; 16M means bytes)"},
    {"keep", OPTION_FLAG, offsetof(PatternConfig, keep), NULL, "leave the data file in place"},
    {"json", OPTION_TEXT, offsetof(PatternConfig, json), "FILE", "write the result as JSON (-: to standard output)"},
    {"help", OPTION_FLAG, offsetof(PatternConfig, help), NULL, "print this"},
};
// clang-format on

const OptionTable PATTERN_OPTIONS = {OPTIONS, sizeof OPTIONS / sizeof OPTIONS[0], USAGE, NOTES};

static const PatternConfig DEFAULTS = {
    .method = "mpi-collective",
    .operation = "both",
    .directory = ".",
    .grid = {64, 64, 64},
    .dumps = 5,
};

static bool names_method(const char *word, const char *next)
{
    static const char option[] = "--method";
    size_t length = strlen(option);
    if (strncmp(word, option, length) != 0 || (word[length] != '\0' && word[length] != '='))
        return false;
    const char *name = word[length] == '=' ? word + length + 1 : next;
    return name != NULL && pattern_method_named(name) != NULL;
}

bool pattern_wanted(int argc, char **argv, MPI_Comm comm)
{
    int rank, lies_there = 0;
    if (argc > 1 && argv[1][0] != '-')
        return true;
    for (int i = 1; i < argc; i++)
        if (names_method(argv[i], i + 1 < argc ? argv[i + 1] : NULL))
            return true;
    MPI_Comm_rank(comm, &rank);
    if (rank == 0 && argc == 1)
        lies_there = pattern_input_like("inputbt.data");
    MPI_Bcast(&lies_there, 1, MPI_INT, 0, comm);
    return lies_there;
}

static void apply_input(PatternConfig *config, MPI_Comm comm, Trouble *trouble)
{
    static PatternInput input;
    int rank;
    MPI_Comm_rank(comm, &rank);
    if (rank == 0)
        input = pattern_input_read(config->input, trouble);
    if (trouble_shared(trouble, comm))
        return;
    MPI_Bcast(&input, sizeof input, MPI_BYTE, 0, comm);
    config->operation = input.operation == 'w' ? "write" : "read";
    config->method = input.method;
    config->dumps = input.dumps;
    memcpy(config->grid, input.grid, sizeof config->grid);
    config->directory = input.directory;
}

static void check_ranks(const PatternConfig *config, MPI_Comm comm, Trouble *trouble)
{
    int ranks;
    MPI_Comm_size(comm, &ranks);
    int edge = square_edge(ranks);
    if (edge == 0)
        trouble_note(trouble, "%d ranks: a square number of ranks is needed: 1, 4, 9, 16, ...", ranks);
    for (int d = 0; d < 3 && edge > 0; d++)
        if (config->grid[d] / edge < SMALLEST_CELL)
            trouble_note(trouble,
                         "%d ranks are too many for %d points in a direction: each of the %d cells needs %d",
                         ranks, config->grid[d], edge, SMALLEST_CELL);
}

static void settle(PatternConfig *config, MPI_Comm comm, Trouble *trouble)
{
    const PatternMethod *method = pattern_method_named(config->method);
    config->writes = strcmp(config->operation, "read") != 0;
    config->reads = strcmp(config->operation, "write") != 0;
    if (method == NULL)
        trouble_note(trouble, "method %s: unknown; the methods are %s", config->method, PATTERN_METHOD_NAMES);
    else if (method->open == NULL)
        trouble_note(trouble, "method %s: this btio was built without PnetCDF; install it and build again",
                     method->name);
    else if (config->per_cell && !method->through_mpi)
        trouble_note(trouble, "--per-cell works only with the MPI methods; the calls of method %s are fixed",
                     method->name);
    if (config->writes && config->reads && strcmp(config->operation, "both") != 0)
        trouble_note(trouble, "--operation %s: unknown; it is write, read or both", config->operation);
    if (config->dumps < 1)
        trouble_note(trouble, "at least one dump is needed");
    check_ranks(config, comm, trouble);
    if (access(config->directory, config->writes ? W_OK | X_OK : X_OK) != 0)
        trouble_note(trouble, "directory %s: %s", config->directory, strerror(errno));
}

void pattern_config_read(PatternConfig *config, int argc, char **argv, MPI_Comm comm)
{
    Trouble trouble = {0};
    int rank, in_front = argc > 1 && argv[1][0] != '-';
    MPI_Comm_rank(comm, &rank);
    *config = DEFAULTS;
    config->input = in_front ? argv[1] : argc == 1 ? "inputbt.data" : NULL;
    if (config->input != NULL)
        apply_input(config, comm, &trouble);
    options_parse(&PATTERN_OPTIONS, argc - in_front, argv + in_front, config, &trouble);
    if (!trouble.any && config->help)
        options_help(&PATTERN_OPTIONS, &DEFAULTS, comm);
    if (!trouble.any && config->hints_file != NULL)
        hints_read_below(&config->hints, config->hints_file, &trouble);
    if (!trouble.any)
        settle(config, comm, &trouble);
    fail_if_trouble(EXIT_USAGE, &trouble, comm);
    config->method = pattern_method_named(config->method)->name;
}
