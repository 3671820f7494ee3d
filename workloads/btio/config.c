#include "config.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "store.h"
#include "two_phase.h"
#include "writable.h"

/* NPB's inputbt.data: steps; dt; nx ny nz; write interval [read interval]; collbuf_nodes collbuf_size. */

/* Values of the input file that rank 0 read, in a form that can be broadcast. */
typedef struct Input {
    int steps, grid[3];
    double dt;
    int write_interval, read_interval; /* Intervals of dumps and of read-backs; 0 if not given. */
    /* Number of nodes and bytes for collective buffering; `has_collbuf` is true if the file has the fifth
     * line. */
    int collbuf[2], has_collbuf;
} Input;

/* Reads up to `most` numbers from the next line into `values`; returns how many there were, -1 at the end of
 * the file. Fortran's exponent letter d and commas are understood; what follows the numbers is a comment. */
static int numbers_on_line(FILE *file, double *values, int most)
{
    char *line = NULL;
    size_t room = 0;
    int found = -1;
    if (getline(&line, &room, file) >= 0) {
        for (char *c = line; *c != '\0'; c++)
            *c = *c == 'd' || *c == 'D' ? 'e' : *c == ',' ? ' ' : *c;
        char *at = line, *end;
        for (found = 0; found < most; found++, at = end) {
            values[found] = strtod(at, &end);
            if (end == at)
                break;
        }
    }
    free(line);
    return found;
}

static void need(bool there, const char *path, int line, const char *what, Trouble *trouble)
{
    if (!there)
        trouble_note(trouble, "%s, line %d: %s expected", path, line, what);
}

static Input read_lines(FILE *file, const char *path, Trouble *trouble)
{
    Input input = {0};
    double v[3];
    need(numbers_on_line(file, v, 1) == 1, path, 1, "the number of time steps", trouble);
    input.steps = (int)v[0];
    need(numbers_on_line(file, v, 1) == 1, path, 2, "the time step dt", trouble);
    input.dt = v[0];
    need(numbers_on_line(file, v, 3) == 3, path, 3, "the grid points nx ny nz", trouble);
    for (int d = 0; d < 3; d++)
        input.grid[d] = (int)v[d];
    int intervals = numbers_on_line(file, v, 2);
    input.write_interval = intervals > 0 && v[0] > 0 ? (int)v[0] : 0;
    input.read_interval = intervals > 1 && v[1] > 0 ? (int)v[1] : 0;
    if (numbers_on_line(file, v, 2) == 2) {
        input.has_collbuf = 1;
        input.collbuf[0] = (int)v[0];
        input.collbuf[1] = (int)v[1];
    }
    return input;
}

/* Reads the file at `path`, which must exist. Called by one rank. */
static Input input_read(const char *path, Trouble *trouble)
{
    Input input = {0};
    FILE *file = fopen(path, "r");
    if (file == NULL) {
        trouble_note(trouble, "cannot read the input file %s: %s", path, strerror(errno));
        return input;
    }
    int first = fgetc(file);
    ungetc(first, file);
    if (first == 'w' || first == 'r')
        trouble_note(trouble,
                     "%s begins with '%c': that is the format of Northwestern's BTIO; for it, run btio %s",
                     path, first, path);
    else
        input = read_lines(file, path, trouble);
    fclose(file);
    return input;
}

static const char USAGE[] =
    "btio: the NAS BT solver with BT-IO (NPB-compatible)\n"
    "usage: mpirun -np P btio [options]      P must be a square number: 1, 4, 9, 16, ...\n\n";

static const char NOTES[] =
    "\nWithout --class, --grid and --input, ./inputbt.data is read when it is there; else class S runs.\n"
    "Data files: DIR/btio.METHOD.out. Exit status: 0 verified, 1 wrong result or I/O error, 2 bad usage.\n";

static const char DRIVER_LIBRARY[] = "library", DRIVER_LUSTRE_LIKE[] = "lustre-like";

// clang-format off
static const Option OPTIONS[] = {
    {"class", OPTION_TEXT, offsetof(Config, class_name), "LETTER", "NPB class: S W A B C D E F"},
    {"grid", OPTION_GRID, offsetof(Config, grid), "NX,NY,NZ", "a grid of your own instead of a class (needs --dt)"},
    {"dt", OPTION_REAL, offsetof(Config, dt), "SECONDS", "time step [the class's]"},
    {"steps", OPTION_COUNT, offsetof(Config, steps), "N", "time steps [the class's; 50 for --grid]"},
    {"write-interval", OPTION_COUNT, offsetof(Config, write_interval), "N", "time steps between two dumps"},
    {"read-interval", OPTION_COUNT, offsetof(Config, read_interval), "N", "read back after every N dumps [after the run]"},
    {"method", OPTION_TEXT, offsetof(Config, method), "NAME", "full: collective; simple: independent rows; epio: a file "
     "per\n" "                               process; fortran: independent 40-byte records; none"},
    {"mpiio-driver", OPTION_TEXT, offsetof(Config, mpiio_driver), "NAME", "what --method full calls. library: MPI-IO; lustre-like: our own\n                               two-phase transfers, stripes bound to aggregators"},
    {"directory", OPTION_TEXT, offsetof(Config, directory), "DIR", "where the data files go"},
    {"hints-file", OPTION_TEXT, offsetof(Config, hints_file), "FILE", "MPI-IO hints, one key=value a line"},
    {"hint", OPTION_HINT, offsetof(Config, hints), "KEY=VALUE", "one MPI-IO hint (repeatable; 16M means bytes)"},
    {"io-only", OPTION_FLAG, offsetof(Config, io_only), NULL, "run without the solver: write known data, check every byte"},
    {"write-only", OPTION_FLAG, offsetof(Config, write_only), NULL, "with --io-only: do not read the data back to check it"},
    {"verify-only", OPTION_FLAG, offsetof(Config, verify_only), NULL, "read and verify the files that a run with --keep left"},
    {"cold-read", OPTION_FLAG, offsetof(Config, cold_read), NULL, "have the nodes forget the data before it is read back"},
    {"keep", OPTION_FLAG, offsetof(Config, keep), NULL, "leave the data files in place"},
    {"fsync", OPTION_FLAG, offsetof(Config, fsync), NULL, "flush the data to storage before the timed close"},
    {"json", OPTION_TEXT, offsetof(Config, json), "FILE", "write the result as JSON (-: to standard output)"},
    {"input", OPTION_TEXT, offsetof(Config, input), "FILE", "read this file in NPB's inputbt.data format"},
    {"print-norms", OPTION_FLAG, offsetof(Config, print_norms), NULL, "print norms of the first step and of every dump"},
    {"help", OPTION_FLAG, offsetof(Config, help), NULL, "print this"},
};
// clang-format on

const OptionTable BTIO_OPTIONS = {OPTIONS, sizeof OPTIONS / sizeof OPTIONS[0], USAGE, NOTES};

static const Config DEFAULTS = {
    .write_interval = PUBLISHED_WRITE_INTERVAL,
    .method = "full",
    .mpiio_driver = DRIVER_LIBRARY,
    .directory = ".",
};

static void apply_input(Config *config, MPI_Comm comm, Trouble *trouble)
{
    int rank;
    Input input = {0};
    MPI_Comm_rank(comm, &rank);
    if (rank == 0)
        input = input_read(config->input, trouble);
    if (trouble_shared(trouble, comm))
        return;
    MPI_Bcast(&input, sizeof input, MPI_BYTE, 0, comm);
    config->steps = config->steps > 0 ? config->steps : input.steps;
    config->dt = config->dt > 0.0 ? config->dt : input.dt;
    memcpy(config->grid, input.grid, sizeof config->grid);
    if (input.write_interval > 0)
        config->write_interval = input.write_interval;
    if (input.read_interval > 0)
        config->read_interval = input.read_interval;
    config->collbuf_from_input = input.has_collbuf;
    memcpy(config->collbuf, input.collbuf, sizeof config->collbuf);
}

/* Adds NPB's hints for a given number of collective buffering nodes; hints of the command line take
 * precedence. */
static void add_collbuf_hints(Config *config, Trouble *trouble)
{
    Hints given = config->hints;
    char text[64];
    if (config->collbuf[0] <= 0)
        return;
    config->hints = (Hints){0};
    snprintf(text, sizeof text, "cb_nodes=%d", config->collbuf[0]);
    hints_add(&config->hints, text, trouble);
    snprintf(text, sizeof text, "cb_buffer_size=%d", config->collbuf[1]);
    hints_add(&config->hints, text, trouble);
    hints_add(&config->hints, "collective_buffering=true", trouble);
    for (int i = 0; i < given.count; i++)
        hints_put(&config->hints, given.list[i].key, given.list[i].value, trouble);
}

/* Takes grid, steps and dt from a class, --grid, or an input file. */
static void find_problem(Config *config, MPI_Comm comm, Trouble *trouble)
{
    bool own_grid = config->grid[0] > 0, named = config->class_name != NULL;
    if (own_grid + named + (config->input != NULL) > 1) {
        trouble_note(trouble, "--class, --grid and --input exclude one another");
        return;
    }
    int rank, lies_there = 0;
    MPI_Comm_rank(comm, &rank);
    if (rank == 0)
        lies_there = access("inputbt.data", F_OK) == 0;
    MPI_Bcast(&lies_there, 1, MPI_INT, 0, comm);
    config->input_ignored = lies_there && (own_grid || named);
    if (lies_there && !own_grid && !named && config->input == NULL)
        config->input = "inputbt.data";
    if (config->input != NULL) {
        apply_input(config, comm, trouble);
        return;
    }
    const Class *class = own_grid ? NULL : class_named(named ? config->class_name : "S");
    if (class != NULL) {
        for (int d = 0; d < 3; d++)
            config->grid[d] = class->size;
        config->steps = config->steps > 0 ? config->steps : class->steps;
        config->dt = config->dt > 0.0 ? config->dt : class->dt;
    } else if (!own_grid) {
        trouble_note(trouble, "--class %s: unknown; the classes are S W A B C D E F", config->class_name);
    } else if (config->steps == 0) {
        config->steps = 50;
    }
}

static void check_numbers(const Config *config, MPI_Comm comm, Trouble *trouble)
{
    int ranks;
    MPI_Comm_size(comm, &ranks);
    int edge = square_edge(ranks);
    if (edge == 0) {
        int root = 1;
        while ((root + 1) * (root + 1) < ranks)
            root++;
        trouble_note(trouble, "%d ranks: a square number of ranks is needed, such as %d or %d", ranks,
                     root * root, (root + 1) * (root + 1));
        return;
    }
    for (int d = 0; d < 3; d++) {
        if (config->grid[d] < SMALLEST_GRID)
            trouble_note(trouble, "grid %d x %d x %d: at least %d points in each direction are needed",
                         config->grid[0], config->grid[1], config->grid[2], SMALLEST_GRID);
        else if (config->grid[d] / edge < SMALLEST_CELL)
            trouble_note(trouble,
                         "%d ranks are too many for %d points: each cell needs %d; use at most %d ranks",
                         ranks, config->grid[d], SMALLEST_CELL,
                         config->grid[d] / SMALLEST_CELL * (config->grid[d] / SMALLEST_CELL));
    }
    if (config->steps < 1)
        trouble_note(trouble, "at least one time step is needed");
    if (config->write_interval < 1)
        trouble_note(trouble, "--write-interval 0: at least 1 is needed");
    if (config->dt <= 0.0 && !config->io_only)
        trouble_note(trouble, "--grid needs the time step too: --dt (class S has 0.01, class A 0.0008)");
}

static void check_combination(const Config *config, Trouble *trouble)
{
    const Method *method = method_named(config->method);
    if (method == NULL)
        trouble_note(trouble, "--method %s: unknown; the methods are %s", config->method, METHOD_NAMES);
    else if (method->open == NULL && (config->io_only || config->verify_only))
        trouble_note(trouble, "--method none has no files for --io-only or --verify-only");
    else if (config_lustre_like(config) ? method != &METHOD_FULL
                                        : strcmp(config->mpiio_driver, DRIVER_LIBRARY) != 0)
        trouble_note(trouble, "--mpiio-driver %s --method %s: the drivers are %s and, for full, %s",
                     config->mpiio_driver, config->method, DRIVER_LIBRARY, DRIVER_LUSTRE_LIKE);
    if (config_lustre_like(config))
        two_phase_check_hints(&config->hints, trouble);
    if (config->write_only && (!config->io_only || config->verify_only || config->read_interval > 0))
        trouble_note(trouble, "--write-only works only with --io-only, and neither with --verify-only nor "
                              "with a read interval");
    if (config->cold_read && (config->write_only || config->read_interval > 0))
        trouble_note(trouble,
                     "--cold-read works only with a read-back after the run: with neither --write-only nor a "
                     "read interval");
    if (config->verify_only && config->read_interval > 0)
        trouble_note(trouble,
                     "--verify-only works only for runs without a read interval, because only they keep "
                     "every dump");
}

static void check_directories(const Config *config, MPI_Comm comm, Trouble *trouble)
{
    int rank;
    MPI_Comm_rank(comm, &rank);
    if (rank == 0 && !config->verify_only && method_named(config->method)->open != NULL)
        writable_folder("directory", config->directory, trouble);
    if (rank == 0)
        writable_file("json", config->json, trouble);
}

void config_read(Config *config, int argc, char **argv, MPI_Comm comm)
{
    Trouble trouble = {0};
    *config = DEFAULTS;
    options_parse(&BTIO_OPTIONS, argc, argv, config, &trouble);
    if (!trouble.any && config->help)
        options_help(&BTIO_OPTIONS, &DEFAULTS, comm);
    if (!trouble.any && config->hints_file != NULL)
        hints_read_below(&config->hints, config->hints_file, &trouble);
    if (!trouble_shared(&trouble, comm))
        find_problem(config, comm, &trouble);
    if (!trouble.any) {
        add_collbuf_hints(config, &trouble);
        check_numbers(config, comm, &trouble);
        check_combination(config, &trouble);
    }
    if (!trouble.any)
        check_directories(config, comm, &trouble);
    fail_if_trouble(EXIT_USAGE, &trouble, comm);
    const Class *class = class_like(config->grid, config->io_only ? 0 : config->steps);
    static char letter[2] = "U";
    letter[0] = class != NULL ? class->letter : 'U';
    config->class_name = letter;
}

bool config_lustre_like(const Config *config)
{
    return strcmp(config->mpiio_driver, DRIVER_LUSTRE_LIKE) == 0;
}

int dump_count(const Config *config)
{
    return (config->steps + config->write_interval - 1) / config->write_interval;
}
