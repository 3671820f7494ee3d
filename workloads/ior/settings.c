#include "settings.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>

#include "api.h"
#include "two_phase.h"

/* Script files: `IOR START`, one key=value a line, `RUN` after each test, `IOR STOP`; # begins a comment. */

enum { LINE = 4096, TESTS_MAX = 1000 };

static char *trimmed(char *text)
{
    text += strspn(text, " \t\r\n");
    char *end = text + strcspn(text, "#\n");
    while (end > text && isspace((unsigned char)end[-1]))
        end--;
    *end = '\0';
    return text;
}

/* Handles one line; returns 1 after RUN, 2 after IOR STOP, else 0. */
static int take_line(char *text, Settings *now, Trouble *trouble)
{
    char *equals = strchr(text, '=');
    if (*text == '\0' || strcasecmp(text, "ior start") == 0)
        return 0;
    if (strcasecmp(text, "run") == 0)
        return 1;
    if (strcasecmp(text, "ior stop") == 0)
        return 2;
    if (equals == NULL) {
        trouble_note(trouble, "'%s' is neither key=value nor IOR START, RUN or IOR STOP", text);
        return 0;
    }
    *equals = '\0';
    options_set(&IOR_OPTIONS, trimmed(text), strdup(trimmed(equals + 1)), now, trouble);
    return 0;
}

/* Reads the tests of a script. Each test starts from the settings of the previous one; the first starts from
 * `base`. */
static Tests script_read(const char *path, const Settings *base, Trouble *trouble)
{
    Tests tests = {0, allocate(TESTS_MAX, sizeof *base)};
    Settings now = *base;
    char line[LINE];
    int number = 0, done = 0;
    FILE *in = fopen(path, "r");
    if (in == NULL) {
        trouble_note(trouble, "script file %s: %s", path, strerror(errno));
        return tests;
    }
    while (done != 2 && !trouble->any && fgets(line, sizeof line, in) != NULL) {
        Trouble here = {0};
        number++;
        done = take_line(trimmed(line), &now, &here);
        if (here.any)
            trouble_note(trouble, "%s:%d: %s", path, number, here.text);
        if (done == 1 && tests.count == TESTS_MAX)
            trouble_note(trouble, "%s:%d: more than %d tests", path, number, TESTS_MAX);
        else if (done == 1)
            tests.list[tests.count++] = now;
    }
    fclose(in);
    if (!trouble->any && tests.count == 0)
        trouble_note(trouble, "%s: no RUN line, so there is nothing to do", path);
    return tests;
}

static const char USAGE[] =
    "ior: parallel I/O with a configurable pattern, options and output as IOR's\n"
    "usage: mpirun -np N ior [options]      sizes take k, m, g, t (powers of 1024)\n\n";

static const char NOTES[] =
    "\nWithout -w, -r, -W and -R, data is written and read. Long names are the directives of -O and of "
    "script\n"
    "files, in any case. Exit status: 0 good, 1 wrong data or I/O error, 2 bad usage.\n";

#define FIELD(name) offsetof(Settings, name)

// clang-format off
static const Option OPTIONS[] = {
    {"api", OPTION_TEXT, FIELD(api), "NAME", "POSIX, MPIIO, HDF5, NCMPI or MMAP", 'a', NULL},
    {"refNum", OPTION_COUNT, FIELD(reference), "N", "a number that identifies this test", 'A', NULL},
    {"blockSize", OPTION_SIZE, FIELD(block), "SIZE", "contiguous bytes of a task", 'b', NULL},
    {"useO_DIRECT", OPTION_FLAG, FIELD(direct), NULL, "bypass the page cache (POSIX)", 'B', "posix.odirect"},
    {"collective", OPTION_FLAG, FIELD(collective), NULL, "collective calls (MPIIO, HDF5, NCMPI)", 'c', NULL},
    {"reorderTasks", OPTION_FLAG, FIELD(shift), NULL, "read what a task on another node wrote", 'C', "reorderTasksConstant"},
    {"interTestDelay", OPTION_COUNT, FIELD(delay), "SECONDS", "wait before each phase", 'd', NULL},
    {"deadlineForStonewalling", OPTION_COUNT, FIELD(deadline), "SECONDS", "stop writing or reading after this time", 'D', NULL},
    {"fsync", OPTION_FLAG, FIELD(sync), NULL, "flush to storage before the timed close", 'e', NULL},
    {"useExistingTestFile", OPTION_FLAG, FIELD(existing), NULL, "do not remove the file before writing", 'E', NULL},
    {"scriptFile", OPTION_TEXT, FIELD(script), "FILE", "tests from a script file", 'f', NULL},
    {"filePerProc", OPTION_FLAG, FIELD(own_file), NULL, "a file per task", 'F', NULL},
    {"intraTestBarriers", OPTION_FLAG, FIELD(barriers), NULL, "barriers between open, transfers and close", 'g', NULL},
    {"setTimeStampSignature", OPTION_INT, FIELD(signature), "N", "number from which the data is made [the time]", 'G', NULL},
    {"showHints", OPTION_FLAG, FIELD(show_hints), NULL, "print MPI-IO hints, given and in effect", 'H', "mpiio.showHints hdf5.showHints ncmpi.showHints"},
    {"repetitions", OPTION_COUNT, FIELD(repetitions), "N", "repetitions of the test", 'i', NULL},
    {"outlierThreshold", OPTION_COUNT, FIELD(outlier), "SECONDS", "warn of tasks whose time differs from the mean by more", 'j', NULL},
    {"setAlignment", OPTION_SIZE, FIELD(alignment), "SIZE", "HDF5: alignment of objects", 'J', "hdf5.setAlignment"},
    {"keepFile", OPTION_FLAG, FIELD(keep), NULL, "leave the files in place", 'k', NULL},
    {"keepFileWithError", OPTION_FLAG, FIELD(keep_with_error), NULL, "leave files with wrong data in place", 'K', NULL},
    {"dataPacketType", OPTION_TEXT, FIELD(packet), "TYPE", "offset (default), timestamp, incompressible or random", 'l', NULL},
    {"multiFile", OPTION_FLAG, FIELD(many_files), NULL, "a new file for each repetition", 'm', NULL},
    {"memoryPerNode", OPTION_SIZE, FIELD(memory_per_node), "SIZE", "occupy this much memory on each node", 'M', NULL},
    {"noFill", OPTION_FLAG, FIELD(no_fill), NULL, "HDF5: do not write fill values", 'n', "hdf5.noFill"},
    {"numTasks", OPTION_INT, FIELD(tasks), "N", "number of tasks that take part [all]", 'N', NULL},
    {"testFile", OPTION_TEXT, FIELD(file), "PATH", "the file; a@b@c are used in turn with -F", 'o', NULL},
    {"options", OPTION_SET, 0, "KEY=VALUE,...", "directives as in script files, such as summaryFormat=JSON", 'O', NULL},
    {"preallocate", OPTION_FLAG, FIELD(preallocate), NULL, "MPIIO: reserve the file's space first", 'p', "mpiio.preallocate"},
    {"taskPerNodeOffset", OPTION_COUNT, FIELD(task_offset), "N", "number of nodes by which -C and -Z shift the tasks", 'Q', NULL},
    {"readFile", OPTION_FLAG, FIELD(read), NULL, "read", 'r', NULL},
    {"checkRead", OPTION_FLAG, FIELD(check_read), NULL, "read and compare, outside the timed part", 'R', NULL},
    {"segmentCount", OPTION_SIZE, FIELD(segments), "N", "segments: one block of every task each", 's', NULL},
    {"useStridedDatatype", OPTION_FLAG, FIELD(strided), NULL, "MPIIO: all segments in one call (needs -V, -b = -t)", 'S', "mpiio.useStridedDatatype"},
    {"transferSize", OPTION_SIZE, FIELD(transfer), "SIZE", "bytes of one call", 't', NULL},
    {"maxTimeDuration", OPTION_COUNT, FIELD(minutes), "MINUTES", "begin no phase after this time", 'T', NULL},
    {"uniqueDir", OPTION_FLAG, FIELD(own_directory), NULL, "with -F: a folder per task", 'u', NULL},
    {"hintsFileName", OPTION_TEXT, FIELD(hints_file), "FILE", "MPI-IO hints, one key=value a line", 'U', "mpiio.hintsFileName hdf5.hintsFileName ncmpi.hintsFileName hints-file"},
    {"verbose", OPTION_TALLY, FIELD(verbosity), NULL, "print more; may be repeated", 'v', NULL},
    {"useFileView", OPTION_FLAG, FIELD(view), NULL, "MPIIO: a file view instead of offsets", 'V', "mpiio.useFileView"},
    {"writeFile", OPTION_FLAG, FIELD(write), NULL, "write", 'w', NULL},
    {"checkWrite", OPTION_FLAG, FIELD(check_write), NULL, "after writing, read back and compare", 'W', NULL},
    {"singleXferAttempt", OPTION_FLAG, FIELD(once), NULL, "a short transfer is an error, not continued", 'x', NULL},
    {"reorderTasksRandomSeed", OPTION_INT, FIELD(seed), "N", "seed of -Z; negative: another one each repetition", 'X', NULL},
    {"fsyncPerWrite", OPTION_FLAG, FIELD(sync_each), NULL, "flush to storage after each write", 'Y', NULL},
    {"randomOffset", OPTION_TALLY, FIELD(order_random), NULL, "transfers in random order; twice: anywhere in the file", 'z', NULL},
    {"reorderTasksRandom", OPTION_TALLY, FIELD(shift_random), NULL, "read what a random task wrote; twice: a permutation", 'Z', NULL},
    {"minTimeDuration", OPTION_COUNT, FIELD(minimum_seconds), "SECONDS", "go on transferring for at least this time", 0, NULL},
    {"stoneWallingWearOut", OPTION_FLAG, FIELD(wearout), NULL, "after the deadline, all tasks do as much as the fastest", 0, NULL},
    {"stoneWallingWearOutIterations", OPTION_SIZE, FIELD(wearout_pairs), "N", "transfers of each task, as counted by an earlier run", 0, NULL},
    {"stoneWallingStatusFile", OPTION_TEXT, FIELD(wearout_file), "FILE", "file that keeps this number from a writing to a reading run", 0, NULL},
    {"lustreStripeCount", OPTION_COUNT, FIELD(stripe_count), "N", "stripes of a new file", 0, "posix.lustre.stripecount"},
    {"lustreStripeSize", OPTION_SIZE, FIELD(stripe_size), "SIZE", "stripe size of a new file", 0, "posix.lustre.stripesize"},
    {"lustreStartOST", OPTION_INT, FIELD(start_target), "N", "first storage target of a new file", 0, "posix.lustre.startost"},
    {"lustrePool", OPTION_TEXT, FIELD(pool), "NAME", "pool of storage targets of a new file", 0, "posix.lustre.pool"},
    {"summaryFormat", OPTION_TEXT, FIELD(summary_format), "FORMAT", "default, JSON or CSV", 0, NULL},
    {"summaryFile", OPTION_TEXT, FIELD(summary_file), "FILE", "print there instead", 0, NULL},
    {"saveRankPerformanceDetailsCSV", OPTION_TEXT, FIELD(rank_csv), "FILE", "time and throughput of each task", 0, NULL},
    {"savePerOpDataCSV", OPTION_TEXT, FIELD(operation_csv), "PREFIX", "time of every transfer, a file per task", 0, NULL},
    {"dryRun", OPTION_FLAG, FIELD(dry), NULL, "check the options and print them, transfer nothing", 0, NULL},
    {"warningAsErrors", OPTION_FLAG, FIELD(warnings_fatal), NULL, "a warning ends the run", 0, NULL},
    {"mpiio-driver", OPTION_TEXT, FIELD(driver), "NAME", "MPIIO with -c: library, or lustre-like: our own two-phase transfers", 0, "mpiio.driver"},
    {"coldRead", OPTION_FLAG, FIELD(cold), NULL, "have the nodes forget the data before it is read", 0, "cold-read"},
    {"directory", OPTION_TEXT, FIELD(directory), "DIR", "folder of the test file, when -o names none", 0, NULL},
    {"hint", OPTION_HINT, FIELD(hints), "KEY=VALUE", "one MPI-IO hint (repeatable)", 0, NULL},
    {"json", OPTION_TEXT, FIELD(json), "FILE", "write the result of the last test as JSON (-: to standard output)", 0, NULL},
    {"help", OPTION_FLAG, FIELD(help), NULL, "print this", 'h', NULL},
};
// clang-format on

const OptionTable IOR_OPTIONS = {OPTIONS, sizeof OPTIONS / sizeof OPTIONS[0], USAGE, NOTES};

static const Settings DEFAULTS = {
    .api = "POSIX",
    .driver = DRIVER_LIBRARY,
    .file = "testFile",
    .packet = "offset",
    .summary_format = "default",
    .block = 1 << 20,
    .transfer = 256 << 10,
    .segments = 1,
    .repetitions = 1,
    .tasks = -1,
    .task_offset = 1,
    .start_target = -1,
};

/* Longest addition to the name of a task's file: the task's directory, its number, the number of the
 * repetition, and the NUL. */
enum { SUFFIX_ROOM = 48 };

/* Notes the error `what` if `fails` is true. Used where one option requires another. */
static void demand(Trouble *trouble, bool fails, const char *what)
{
    if (fails)
        trouble_note(trouble, "%s", what);
}

static void check(const Settings *s, int ranks, Trouble *trouble)
{
    const Api *api = api_named(s->api);
    bool grouped = api != NULL && api->collective;
    if (api == NULL)
        trouble_note(trouble, "-a %s: this ior knows %s", s->api, api_names());
    if (s->tasks > ranks)
        trouble_note(trouble, "-N %d: there are only %d ranks", s->tasks, ranks);
    if (strlen(s->file) + SUFFIX_ROOM > PATH_MAX)
        trouble_note(trouble, "-o %.60s…: a path has at most %d bytes here", s->file, PATH_MAX - SUFFIX_ROOM);
    if (s->transfer > 0 && s->block % s->transfer != 0)
        trouble_note(trouble, "-b %lld is not a multiple of -t %lld", (long long)s->block,
                     (long long)s->transfer);
    demand(trouble, s->transfer < 8 || s->transfer % 8 != 0,
           "-t: a transfer is a multiple of 8 bytes, at least 8");
    demand(trouble, s->block < s->transfer, "-b: a block holds at least one transfer");
    demand(trouble, s->segments < 1 || s->repetitions < 1, "-s and -i are at least 1");
    demand(trouble, s->tasks == 0 || s->tasks < -1, "-N is at least 1");
    demand(trouble, s->shift && s->shift_random > 0, "-C and -Z exclude one another");
    demand(trouble, s->order_random > 0 && (s->collective || s->view),
           "-z works neither with -c nor with -V: tasks would not call together");
    demand(trouble, s->order_random > 0 && s->block == s->transfer && s->segments == 1 && s->order_random < 2,
           "-z needs more than one transfer per task: make -b larger than -t");
    demand(trouble, s->order_random > 1 && (s->check_read || s->check_write),
           "-zz lets transfers overlap: their data cannot be checked");
    demand(trouble, s->collective && !grouped,
           "-c needs an interface with collective calls: MPIIO, HDF5 or NCMPI");
    demand(trouble, (s->view || s->strided || s->preallocate) && strcasecmp(s->api, "MPIIO") != 0,
           "-V, -S and -p are for -a MPIIO");
    demand(trouble, s->strided && (!s->view || s->block != s->transfer),
           "-S needs -V, and -b must be equal to -t");
    bool own_driver = strcmp(s->driver, DRIVER_LUSTRE_LIKE) == 0;
    demand(trouble, !own_driver && strcmp(s->driver, DRIVER_LIBRARY) != 0,
           "--mpiio-driver: the drivers are " DRIVER_LIBRARY " and " DRIVER_LUSTRE_LIKE);
    if (own_driver)
        two_phase_check_hints(&s->hints, trouble);
    demand(trouble,
           own_driver && (strcasecmp(s->api, "MPIIO") != 0 || !s->collective || s->view || s->preallocate),
           "--mpiio-driver " DRIVER_LUSTRE_LIKE " needs -a MPIIO -c, and works neither with -V nor with -p");
    demand(trouble, s->direct && strcasecmp(s->api, "POSIX") != 0, "-B is for -a POSIX");
    demand(trouble, s->direct && s->transfer % 4096 != 0, "-B needs -t in multiples of 4096 bytes");
    demand(trouble, s->own_directory && !s->own_file, "-u needs -F");
    demand(trouble, s->cold && !s->read, "--cold-read works only with a timed read: -r");
    demand(trouble, s->own_file && strcasecmp(s->api, "NCMPI") == 0, "-F does not work with -a NCMPI");
    demand(trouble, s->wearout && s->deadline == 0, "stoneWallingWearOut needs a deadline: -D SECONDS");
    demand(trouble, s->order_random > 0 && strcasecmp(s->api, "NCMPI") == 0,
           "-z does not work with -a NCMPI");
    if (strcmp(s->summary_format, "default") != 0 && strcmp(s->summary_format, "JSON") != 0 &&
        strcmp(s->summary_format, "CSV") != 0)
        trouble_note(trouble, "summaryFormat=%s: default, JSON or CSV", s->summary_format);
    if (strchr("otir", s->packet[0]) == NULL)
        trouble_note(trouble, "-l %s: offset, timestamp, incompressible or random", s->packet);
}

/* Fills in the settings that follow from the given ones. */
static void complete(Settings *s, int ranks, Trouble *trouble)
{
    static const char prefix[] = "IOR_HINT__MPI__";
    extern char **environ;
    Hints given = s->hints, file = {0};
    if (!s->write && !s->read && !s->check_write && !s->check_read)
        s->write = s->read = true;
    s->tasks = s->tasks < 0 ? ranks : s->tasks;
    if (s->signature == 0)
        s->signature = (int)(MPI_Wtime() + 1) | 1;
    if (s->directory != NULL && strchr(s->file, '/') == NULL) {
        char path[4096];
        snprintf(path, sizeof path, "%s/%s", s->directory, s->file);
        s->file = strdup(path);
    }
    s->hints = (Hints){0};
    for (char **variable = environ; *variable != NULL; variable++)
        if (strncmp(*variable, prefix, sizeof prefix - 1) == 0)
            hints_add(&s->hints, *variable + sizeof prefix - 1, trouble);
    if (s->hints_file != NULL)
        hints_read(&file, s->hints_file, trouble);
    for (int i = 0; i < file.count; i++) {
        size_t skip = strncmp(file.list[i].key, prefix, sizeof prefix - 1) == 0 ? sizeof prefix - 1 : 0;
        hints_put(&s->hints, file.list[i].key + skip, file.list[i].value, trouble);
    }
    hints_put_all(&s->hints, &given, trouble);
}

Tests settings_read(int argc, char **argv, MPI_Comm comm)
{
    int rank, ranks;
    Trouble trouble = {0};
    Settings first = DEFAULTS;
    Tests tests = {0};
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &ranks);
    options_parse(&IOR_OPTIONS, argc, argv, &first, &trouble);
    if (!trouble.any && first.help)
        options_help(&IOR_OPTIONS, &DEFAULTS, comm);
    if (!trouble.any && first.script != NULL) {
        tests = script_read(first.script, &first, &trouble);
    } else {
        tests = (Tests){1, allocate(1, sizeof first)};
        tests.list[0] = first;
    }
    for (int i = 0; i < tests.count && !trouble.any; i++) {
        complete(&tests.list[i], ranks, &trouble);
        check(&tests.list[i], ranks, &trouble);
    }
    fail_if_trouble(EXIT_USAGE, &trouble, comm);
    for (int i = 0; i < tests.count; i++)
        MPI_Bcast(&tests.list[i].signature, 1, MPI_INT, 0, comm);
    return tests;
}
