#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "run.h"
#include "writable.h"

static const char USAGE[] =
    "metadata: create, stat, read and remove many small files, in the manner of mdtest\n"
    "usage: mpirun -np P metadata [options]\n\n";

static const char NOTES[] =
    "\nWithout -C, -T, -E, -r and --find all of the first four run. The files are DIR/items/file.RANK.ITEM, "
    "or\n"
    "DIR/items.RANK/file.RANK.ITEM with -u. Presets: easy is -u with empty files, hard is one folder with\n"
    "-w 3901 -e 3901, as IO500 sets them.\n"
    "Exit status: 0 good, 1 wrong content or I/O error, 2 bad usage.\n";

// clang-format off
static const Option OPTIONS[] = {
    {"items", OPTION_COUNT, offsetof(Config, items), "N", "files of each rank", 'n'},
    {"unique-dir", OPTION_FLAG, offsetof(Config, unique), NULL, "a folder for each rank instead of one for all", 'u'},
    {"write-bytes", OPTION_SIZE, offsetof(Config, write_bytes), "SIZE", "bytes of each file [none]", 'w'},
    {"read-bytes", OPTION_SIZE, offsetof(Config, read_bytes), "SIZE", "bytes read of each file [none: open and close]", 'e'},
    {"sync", OPTION_FLAG, offsetof(Config, sync), NULL, "flush each file to storage after writing", 'y'},
    {"create", OPTION_FLAG, offsetof(Config, create), NULL, "create the files", 'C'},
    {"stat", OPTION_FLAG, offsetof(Config, stat), NULL, "look at each file's size", 'T'},
    {"read", OPTION_FLAG, offsetof(Config, read), NULL, "read each file and compare", 'E'},
    {"remove", OPTION_FLAG, offsetof(Config, remove), NULL, "remove the files and their folders", 'r'},
    {"find", OPTION_FLAG, offsetof(Config, find), NULL, "look for files everywhere below DIR"},
    {"find-name", OPTION_TEXT, offsetof(Config, find_name), "PATTERN", "find files whose name matches this pattern"},
    {"find-size", OPTION_SIZE, offsetof(Config, find_size), "SIZE", "find files of this size in bytes"},
    {"newer", OPTION_TEXT, offsetof(Config, newer), "FILE", "find files changed later than this file"},
    {"stride", OPTION_COUNT, offsetof(Config, stride), "N", "shift of ranks: stat the files of rank +N, read +2N, remove +3N", 'N'},
    {"iterations", OPTION_COUNT, offsetof(Config, iterations), "N", "repetitions of the whole test", 'i'},
    {"preset", OPTION_TEXT, offsetof(Config, preset), "NAME", "easy or hard"},
    {"directory", OPTION_TEXT, offsetof(Config, directory), "DIR", "where the files go", 'd'},
    {"json", OPTION_TEXT, offsetof(Config, json), "FILE", "write the result as JSON (-: to standard output)"},
    {"help", OPTION_FLAG, offsetof(Config, help), NULL, "print this", 'h'},
};
// clang-format on

const OptionTable METADATA_OPTIONS = {OPTIONS, sizeof OPTIONS / sizeof OPTIONS[0], USAGE, NOTES};

static const Config DEFAULTS = {
    .items = 1000,
    .iterations = 1,
    .stride = 1,
    .find_name = "*01*",
    .find_size = 3901,
    .directory = ".",
};

typedef struct Preset {
    const char *name;
    bool unique;
    int64_t bytes;
} Preset;

static const Preset PRESETS[] = {{"easy", true, 0}, {"hard", false, 3901}};

static void apply_preset(Config *config, Trouble *trouble)
{
    if (config->preset == NULL)
        return;
    if (config->unique || config->write_bytes > 0 || config->read_bytes > 0) {
        trouble_note(trouble, "--preset sets -u, -w and -e: leave them out");
        return;
    }
    for (size_t i = 0; i < sizeof PRESETS / sizeof PRESETS[0]; i++) {
        const Preset *preset = &PRESETS[i];
        if (strcmp(preset->name, config->preset) != 0)
            continue;
        config->unique = preset->unique;
        config->write_bytes = config->read_bytes = preset->bytes;
        return;
    }
    trouble_note(trouble, "--preset %s: unknown; the presets are easy and hard", config->preset);
}

static void check(Config *config, Trouble *trouble)
{
    bool any = config->create || config->stat || config->read || config->remove || config->find;
    if (!any)
        config->create = config->stat = config->read = config->remove = true;
    if (config->items < 1)
        trouble_note(trouble, "--items 0: at least 1 is needed");
    if (config->iterations < 1)
        trouble_note(trouble, "--iterations 0: at least 1 is needed");
    if (config->iterations > 1 && config->create != config->remove)
        trouble_note(trouble, "-i %d needs both -C and -r, or neither: an item is created and removed once",
                     config->iterations);
    if (config->read_bytes > config->write_bytes)
        trouble_note(trouble, "-e %lld: the files have %lld bytes (-w)", (long long)config->read_bytes,
                     (long long)config->write_bytes);
    if (config->write_bytes > 1 << 30)
        trouble_note(trouble, "-w %lld: at most 1g is possible", (long long)config->write_bytes);
}

/* Checks the folders on rank 0; the result holds for all ranks. */
static void check_folders(const Config *config, Trouble *trouble)
{
    writable_folder("directory", config->directory, trouble);
    if (config->newer != NULL && access(config->newer, F_OK) != 0)
        trouble_note(trouble, "--newer %s: %s", config->newer, strerror(errno));
    writable_file("json", config->json, trouble);
}

void config_read(Config *config, int argc, char **argv, MPI_Comm comm)
{
    Trouble trouble = {0};
    int rank;
    MPI_Comm_rank(comm, &rank);
    *config = DEFAULTS;
    options_parse(&METADATA_OPTIONS, argc, argv, config, &trouble);
    if (!trouble.any && config->help)
        options_help(&METADATA_OPTIONS, &DEFAULTS, comm);
    apply_preset(config, &trouble);
    check(config, &trouble);
    if (rank == 0)
        check_folders(config, &trouble);
    fail_if_trouble(EXIT_USAGE, &trouble, comm);
}
