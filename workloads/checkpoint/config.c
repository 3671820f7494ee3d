#include "config.h"

#include <ctype.h>
#include <errno.h>
#include <libgen.h>
#include <math.h>
#include <stdlib.h>
#include <strings.h>
#include <unistd.h>

#include "store.h"

/* Resource files in ESMF's format, as MAPL's simulators read them: `KEY: value` on a line, # or ! begins a
 * comment. */

enum { KEYS_MAX = 64 };

static const char *const TRUE_WORDS[] = {".true.", ".t.", "true", "t", "yes", "y", "on"};
static const char *const FALSE_WORDS[] = {".false.", ".f.", "false", "f", "no", "n", "off"};
enum { TRUTH_WORDS = sizeof TRUE_WORDS / sizeof TRUE_WORDS[0] };

/* Returns 1 for true, 0 for false, -1 for any other word. */
static int truth_of(const char *word)
{
    for (int i = 0; i < TRUTH_WORDS; i++) {
        if (strcasecmp(word, TRUE_WORDS[i]) == 0)
            return 1;
        if (strcasecmp(word, FALSE_WORDS[i]) == 0)
            return 0;
    }
    return -1;
}

static void set(const Key *key, const char *word, const char *where, Problem *problem, Trouble *trouble)
{
    void *field = (char *)problem + key->offset;
    if (key->kind == KEY_COUNT) {
        char *end;
        errno = 0;
        long number = strtol(word, &end, 10);
        if (end == word || *end != '\0' || errno != 0 || number < 0 || number > INT_MAX)
            trouble_note(trouble, "%s: %s: '%s' is not a whole number from 0 to %d", where, key->name, word,
                         INT_MAX);
        else
            *(int *)field = (int)number;
        return;
    }
    int truth = truth_of(word);
    if (truth < 0)
        trouble_note(trouble, "%s: %s: '%s' is neither .true. nor .false.", where, key->name, word);
    else
        *(bool *)field = truth == (key->kind == KEY_TRUTH);
}

static void warn(const char *where, const char *key, const char *why)
{
    fprintf(stderr, "%s: warning: %s: %s %s\n", program_invocation_short_name, where, key, why);
}

/* Reads one line without its comment. */
static void read_line(char *line, const char *where, const Program *program, bool *seen, Problem *problem,
                      Trouble *trouble)
{
    static const char blanks[] = " \t\r\n";
    char *name = line + strspn(line, blanks);
    char *colon = strchr(name, ':');
    if (*name == '\0')
        return;
    if (colon == NULL) {
        trouble_note(trouble, "%s: '%s' is not a line like NX: 4", where, name);
        return;
    }
    *colon = '\0';
    name[strcspn(name, blanks)] = '\0';
    char *value = colon + 1 + strspn(colon + 1, blanks);
    value[strcspn(value, blanks)] = '\0';
    int at = 0;
    while (at < program->key_count && strcasecmp(program->keys[at].name, name) != 0)
        at++;
    if (at == program->key_count) {
        warn(where, name, "is not a key of this program and is ignored");
    } else if (seen[at]) {
        warn(where, name, "is given again; the first value holds");
    } else {
        seen[at] = true;
        set(&program->keys[at], value, where, problem, trouble);
    }
}

static void check_required(const char *path, const Program *program, const bool *seen, Trouble *trouble)
{
    char missing[512] = "";
    for (int i = 0; i < program->key_count; i++)
        if (program->keys[i].required && !seen[i]) {
            size_t used = strlen(missing);
            snprintf(missing + used, sizeof missing - used, "%s%s", used > 0 ? ", " : "",
                     program->keys[i].name);
        }
    if (missing[0] != '\0')
        trouble_note(trouble, "%s: required and missing: %s (a line like NX: 4 for each)", path, missing);
}

/* Reads the values in the file into `problem`. Upper and lower case do not differ. Warns of keys that are
 * unknown or repeated; a missing required key or a value of the wrong kind is an error. Called by one
 * rank. */
static void resource_read(const char *path, const Program *program, Problem *problem, Trouble *trouble)
{
    FILE *file = fopen(path, "r");
    if (file == NULL) {
        trouble_note(trouble, "cannot read the configuration file %s: %s", path, strerror(errno));
        return;
    }
    bool seen[KEYS_MAX] = {false};
    char *line = NULL;
    size_t room = 0;
    for (int number = 1; getline(&line, &room, file) >= 0 && !trouble->any; number++) {
        char where[512];
        snprintf(where, sizeof where, "%s, line %d", path, number);
        line[strcspn(line, "#!\r\n")] = '\0';
        read_line(line, where, program, seen, problem, trouble);
    }
    if (ferror(file))
        trouble_note(trouble, "cannot read the configuration file %s: %s", path, strerror(errno));
    free(line);
    fclose(file);
    check_required(path, program, seen, trouble);
}

enum { DEFAULT_TRIALS = 3, SINGLE_TRIAL = 1, READ = R_OK | X_OK, WRITE = W_OK | X_OK };

/* The problem that the original program has by default. */
static const Problem PROBLEM_DEFAULTS = {
    .nx = 4, .ny = 4, .im_world = 90, .lm = 137, .io_ranks = 1, .arrays = 5};

/* Returns true if an option of the command line describes the problem, and is not only about folders or
 * hints. */
static bool names_problem(const Program *program, int argc, char **argv)
{
    static const Problem NOTHING = {0};
    Config given = {0};
    Trouble ignored = {0};
    options_parse(program->options, argc, argv, &given, &ignored);
    return memcmp(&given.problem, &NOTHING, sizeof NOTHING) != 0;
}

/* Reads the problem from the resource file that an option names. If no option describes a problem, reads the
 * file with a fixed name if there is one, and runs one trial, as the original did before MAPL 2.51, when it
 * had no options. */
static void find_problem(Config *config, const Program *program, bool named, MPI_Comm comm, Trouble *trouble)
{
    int rank, lies_there = 0;
    MPI_Comm_rank(comm, &rank);
    if (rank == 0)
        lies_there = access(program->resource_file, F_OK) == 0;
    MPI_Bcast(&lies_there, 1, MPI_INT, 0, comm);
    bool old = config->config_file == NULL && config->mode == NULL && !named && lies_there;
    const char *path = old ? program->resource_file : config->config_file;
    if (path != NULL) {
        config->problem = (Problem){0};
        if (rank == 0) {
            printf(" Using configuration file %s\n", path);
            if (!old)
                printf(" NOTE: This overrides any other command line options\n");
            resource_read(path, program, &config->problem, trouble);
        }
        if (trouble_shared(trouble, comm))
            return;
        MPI_Bcast(&config->problem, sizeof config->problem, MPI_BYTE, 0, comm);
    }
    if (config->problem.trials == 0)
        config->problem.trials = old || config->mode != NULL ? SINGLE_TRIAL : DEFAULT_TRIALS;
}

/* Adds the hints of the hints file before those of --hint, so that the latter can change them. */
static void add_hints(Config *config, Trouble *trouble)
{
    Hints given = config->hints;
    config->hints = (Hints){0};
    if (config->original_hints) {
        hints_put(&config->hints, "cb_buffer_size", "16777216", trouble);
        hints_put(&config->hints, "romio_cb_write", "enable", trouble);
    }
    if (config->problem.extra_info) {
        hints_put(&config->hints, "IBM_largeblock_io", "true", trouble);
        hints_put(&config->hints, "striping_unit", "4194304", trouble);
    }
    if (config->hints_file != NULL)
        hints_read(&config->hints, config->hints_file, trouble);
    hints_put_all(&config->hints, &given, trouble);
}

static void check_writers(const Problem *problem, const char *name, Trouble *trouble)
{
    char fitting[256] = "";
    int rows = FACES * problem->ny;
    if (problem->io_ranks > 0 && rows % problem->io_ranks == 0)
        return;
    for (int n = 1; n <= rows; n++)
        if (rows % n == 0 && strlen(fitting) < sizeof fitting - 16)
            snprintf(fitting + strlen(fitting), 16, " %d", n);
    trouble_note(trouble, "%d %s: the number must be a divisor of 6*NY = %d:%s", problem->io_ranks, name,
                 rows, fitting);
}

static void check_numbers(const Problem *problem, const Program *program, Trouble *trouble)
{
    if (problem->nx < 1 || problem->ny < 1 || problem->lm < 1 || problem->arrays < 1) {
        trouble_note(trouble, "NX, NY, LM and NUM_ARRAYS must be at least 1; they are %d, %d, %d and %d",
                     problem->nx, problem->ny, problem->lm, problem->arrays);
        return;
    }
    int wider = problem->nx > problem->ny ? problem->nx : problem->ny;
    if (problem->im_world < wider)
        trouble_note(trouble, "IM_WORLD is %d: each of NX=%d by NY=%d ranks needs a cell of a face",
                     problem->im_world, problem->nx, problem->ny);
    check_writers(problem, program->reads ? "readers" : "writers", trouble);
}

static void check_ranks(const Problem *problem, int ranks, Trouble *trouble)
{
    if (ranks != (long long)FACES * problem->nx * problem->ny)
        trouble_note(trouble, "%d ranks: 6*NX*NY = 6*%d*%d = %lld are needed", ranks, problem->nx,
                     problem->ny, (long long)FACES * problem->nx * problem->ny);
}

/* Checks that the sizes fit into the counts of MPI, the chunks of HDF5 and the records of Fortran. */
static void check_sizes(const Problem *problem, const Program *program, Trouble *trouble)
{
    double levels = problem->whole ? problem->lm : 1, edge = problem->im_world, cell = sizeof(float);
    double rows = (double)FACES * problem->ny / problem->io_ranks;
    double slab = rows * ceil(edge / problem->ny) * edge * levels;
    double field = FACES * edge * edge * levels, chunk = field / problem->io_ranks * cell;
    const char *io_ranks = program->reads ? "readers" : "writers";
    if (slab > INT_MAX)
        trouble_note(trouble,
                     "%.0f cells go through one of the %s at once, and MPI counts to %d: use more %s, or "
                     "move one level at a time",
                     slab, io_ranks, INT_MAX, io_ranks);
    if (problem->binary && (problem->split ? slab : field) * cell > FORTRAN_RECORD_MAX)
        trouble_note(trouble, "a Fortran record of more than %d bytes: move one level at a time",
                     FORTRAN_RECORD_MAX);
    if (!problem->binary && !problem->no_chunking && !program->reads && chunk > UINT32_MAX)
        trouble_note(trouble,
                     "a chunk of %.0f bytes: HDF5 has up to %u; use more writers, --no_chunking, or gather "
                     "one level at a time",
                     chunk, UINT32_MAX);
}

static void check_directory(const char *option, const char *path, int mode, Trouble *trouble)
{
    if (access(path, mode) != 0)
        trouble_note(trouble, "--%s: cannot %s %s: %s", option, mode == READ ? "read from" : "write into",
                     path, strerror(errno));
}

static void check_directories(const Config *config, const Program *program, Trouble *trouble)
{
    bool reads_only = program->reads && !config->both && !config->remove;
    check_directory("directory", config->directory, reads_only ? READ : WRITE, trouble);
    if (config->json != NULL && strcmp(config->json, "-") != 0) {
        char *copy = strdup(config->json);
        check_directory("json", dirname(copy), WRITE, trouble);
        free(copy);
    }
}

static void check(const Config *config, const Program *program, MPI_Comm comm, Trouble *trouble)
{
    int rank, ranks;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &ranks);
    bool binary = config->mode != NULL ? strcmp(config->file_type, "netcdf") != 0 : config->problem.binary;
    if (config->mode != NULL)
        kernel_check(config, ranks, trouble);
    else
        check_numbers(&config->problem, program, trouble);
    if (!trouble->any && config->mode == NULL)
        check_sizes(&config->problem, program, trouble);
    if (!binary && !FORMAT_NETCDF.present)
        trouble_note(trouble, "built without netCDF-4 for this MPI: use %s",
                     config->mode != NULL ? "--file_type binary"
                     : program->reads     ? "--read_binary"
                                          : "--write_binary");
    if (!trouble->any && rank == 0)
        check_directories(config, program, trouble);
    if (config->mode == NULL)
        check_ranks(&config->problem, ranks, trouble);
}

void config_read(Config *config, const Program *program, int argc, char **argv, MPI_Comm comm)
{
    static const Config DEFAULTS = {.file_type = "binary", .directory = "."};
    Trouble trouble = {0};
    *config = DEFAULTS;
    config->problem = PROBLEM_DEFAULTS;
    const Config defaults = *config;
    options_parse(program->options, argc, argv, config, &trouble);
    if (!trouble.any && config->help)
        options_help(program->options, &defaults, comm);
    if (!trouble_shared(&trouble, comm))
        find_problem(config, program, names_problem(program, argc, argv), comm, &trouble);
    if (!trouble.any)
        add_hints(config, &trouble);
    if (!trouble.any)
        check(config, program, comm, &trouble);
    fail_if_trouble(EXIT_USAGE, &trouble, comm);
}
