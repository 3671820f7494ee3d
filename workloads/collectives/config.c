#include <stdlib.h>

#include "run.h"
#include "writable.h"

static const char USAGE[] =
    "collectives: latency of MPI's collective operations, or of messages between two ranks\n"
    "usage: mpirun -np P collectives [options]\n\n";

static const char NOTES[] =
    "\nLatencies are in microseconds. Each rank needs a processor of its own, else "
    "the scheduler\n"
    "is measured; --oversubscribed runs all the same and marks the result. Algorithms "
    "are chosen\n"
    "through the MPI library: Open MPI reads OMPI_MCA_coll_*, MPICH reads MPIR_CVAR_*.\n"
    "Exit status: 0 all results right, 1 wrong result or failure, 2 bad usage.\n";

// clang-format off
static const Option OPTIONS[] = {
    {"operations", OPTION_TEXT, offsetof(Config, names), "LIST", "the operations to time, separated by commas"},
    {"message-size", OPTION_TEXT, offsetof(Config, sizes), "MIN:MAX", "bytes; powers of two between them", 'm'},
    {"datatype", OPTION_TEXT, offsetof(Config, datatype), "NAME", "char or double", 'T'},
    {"iterations", OPTION_COUNT, offsetof(Config, iterations), "N", "timed calls [1000 up to 8192 bytes, 100 above]", 'i'},
    {"mem-limit", OPTION_SIZE, offsetof(Config, memory), "SIZE", "buffers of one rank; larger messages are left out", 'M'},
    {"pingpong", OPTION_FLAG, offsetof(Config, pingpong), NULL, "time messages between two ranks around the eager limit, not collectives"},
    {"limits", OPTION_TEXT, offsetof(Config, limit_list), "LIST", "further sizes for --pingpong to look around, such as 1k,64k"},
    {"oversubscribed", OPTION_FLAG, offsetof(Config, oversubscribed), NULL, "run with more ranks than processors"},
    {"json", OPTION_TEXT, offsetof(Config, json), "FILE", "write the result as JSON (-: to standard output)"},
    {"help", OPTION_FLAG, offsetof(Config, help), NULL, "print this", 'h'},
};
// clang-format on

const OptionTable COLLECTIVES_OPTIONS = {OPTIONS, sizeof OPTIONS / sizeof OPTIONS[0], USAGE, NOTES};

static const Config DEFAULTS = {
    .names = "Allreduce,Bcast,Reduce,Allgather,Allgatherv,Alltoall,Gatherv,Scatterv,Barrier",
    .sizes = "1:4M",
    .datatype = "char",
    .memory = 512 << 20,
};

static void read_names(Config *config, Trouble *trouble)
{
    for (const char *at = config->names; *at != '\0' && !trouble->any;) {
        size_t length = strcspn(at, ",");
        const Operation *operation = operation_named(at, length);
        if (operation == NULL)
            trouble_note(trouble, "--operations %.*s: unknown; the operations are %s", (int)length, at,
                         DEFAULTS.names);
        else if (config->chosen_count == CHOSEN_MAX)
            trouble_note(trouble, "--operations: more than %d", CHOSEN_MAX);
        else
            config->chosen[config->chosen_count++] = operation;
        at += length + (at[length] == ',');
    }
    if (config->chosen_count == 0)
        trouble_note(trouble, "--operations: at least one is needed");
}

/* Reads message sizes of the form "MIN:MAX", "MIN:" or "MAX", as the OSU micro-benchmarks do. */
static void read_sizes(Config *config, Trouble *trouble)
{
    char *text = strdup(config->sizes), *colon = strchr(text, ':');
    const char *most = colon != NULL ? colon + 1 : text;
    bool good = true;
    config->smallest = 1;
    config->largest = 4 << 20;
    if (colon != NULL) {
        *colon = '\0';
        good = *text == '\0' || options_size(text, &config->smallest);
    }
    good = good && (*most == '\0' || options_size(most, &config->largest));
    if (!good || config->smallest < 1 || config->largest < config->smallest || config->largest > 1 << 30)
        trouble_note(trouble, "--message-size %s: sizes such as 1:4M are needed, from 1 byte to 1G",
                     config->sizes);
    free(text);
}

static void read_limits(Config *config, Trouble *trouble)
{
    char *text = strdup(config->limit_list != NULL ? config->limit_list : ""), *rest = text;
    for (char *word; (word = strsep(&rest, ",")) != NULL && *text != '\0' && !trouble->any;) {
        int64_t *limit = &config->limits[config->limit_count];
        if (config->limit_count == LIMITS_MAX || !options_size(word, limit) || *limit < 2)
            trouble_note(trouble, "--limits %s: at most %d sizes such as 1k,64k are needed",
                         config->limit_list, LIMITS_MAX);
        else
            config->limit_count++;
    }
    free(text);
}

static void check(Config *config, MPI_Comm comm, Trouble *trouble)
{
    int ranks;
    MPI_Comm_size(comm, &ranks);
    config->element = element_named(config->datatype);
    if (config->element == NULL)
        trouble_note(trouble, "--datatype %s: unknown; the types are char and double", config->datatype);
    if (config->pingpong && ranks != 2)
        trouble_note(trouble, "--pingpong is between two ranks, not %d: use mpirun -np 2", ranks);
    if (config->limit_count > 0 && !config->pingpong)
        trouble_note(trouble, "--limits works only with --pingpong");
}

void config_read(Config *config, int argc, char **argv, MPI_Comm comm)
{
    Trouble trouble = {0};
    int rank;
    *config = DEFAULTS;
    MPI_Comm_rank(comm, &rank);
    options_parse(&COLLECTIVES_OPTIONS, argc, argv, config, &trouble);
    if (!trouble.any && config->help)
        options_help(&COLLECTIVES_OPTIONS, &DEFAULTS, comm);
    read_names(config, &trouble);
    read_sizes(config, &trouble);
    read_limits(config, &trouble);
    check(config, comm, &trouble);
    if (rank == 0)
        writable_file("json", config->json, &trouble);
    fail_if_trouble(EXIT_USAGE, &trouble, comm);
}
