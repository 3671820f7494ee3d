#include "run.h"

#include <errno.h>
#include <fnmatch.h>
#include <fts.h>
#include <stdlib.h>
#include <sys/stat.h>

/* Searches a tree of folders for files by name, size and age, with all ranks at once. */

typedef struct Findings {
    long long files, found; /* Numbers of files examined and of files that match the options, over all
                             * ranks. */
} Findings;

typedef struct Wanted {
    const char *name;
    int64_t size;
    bool aged; /* True if only files changed after `after` are wanted. */
    struct timespec after;
} Wanted;

static unsigned long hash(const char *name)
{
    unsigned long sum = 5381;
    for (; *name != '\0'; name++)
        sum = sum * 33 + (unsigned char)*name;
    return sum;
}

static bool is_later(struct timespec a, struct timespec b)
{
    return a.tv_sec > b.tv_sec || (a.tv_sec == b.tv_sec && a.tv_nsec > b.tv_nsec);
}

/* Returns true if a file fits the search. The name is compared first, because that needs no system call. */
static bool matches(const Wanted *wanted, const FTSENT *entry)
{
    struct stat about;
    return fnmatch(wanted->name, entry->fts_name, 0) == 0 && lstat(entry->fts_accpath, &about) == 0 &&
           about.st_size == wanted->size && (!wanted->aged || is_later(about.st_mtim, wanted->after));
}

static void walk(const char *directory, const Wanted *wanted, int rank, int ranks, long long counts[2],
                 Trouble *trouble)
{
    char *const roots[] = {(char *)directory, NULL};
    FTS *tree = fts_open(roots, FTS_PHYSICAL | FTS_NOSTAT | FTS_NOCHDIR, NULL);
    for (FTSENT *entry; tree != NULL && (entry = fts_read(tree)) != NULL;) {
        if (entry->fts_info == FTS_DNR || entry->fts_info == FTS_ERR)
            trouble_note(trouble, "cannot list %s: %s", entry->fts_path, strerror(entry->fts_errno));
        if (entry->fts_info == FTS_D || entry->fts_info == FTS_DP ||
            hash(entry->fts_name) % (unsigned)ranks != (unsigned)rank)
            continue;
        counts[0]++;
        counts[1] += matches(wanted, entry);
    }
    if (tree == NULL)
        trouble_note(trouble, "cannot list %s: %s", directory, strerror(errno));
    else
        fts_close(tree);
}

/* Finds the files that the options ask for. Every rank lists all folders, and examines its share of the
 * files, which depends on their names. Collective. */
static Findings find_below(const Config *config, MPI_Comm comm, Trouble *trouble)
{
    Wanted wanted = {.name = config->find_name, .size = config->find_size, .aged = config->newer != NULL};
    long long mine[2] = {0, 0}, all[2];
    struct stat about;
    int rank, ranks;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &ranks);
    if (wanted.aged && stat(config->newer, &about) == 0)
        wanted.after = about.st_mtim;
    else if (wanted.aged)
        trouble_note(trouble, "--newer %s: %s", config->newer, strerror(errno));
    if (!trouble->any)
        walk(config->directory, &wanted, rank, ranks, mine, trouble);
    MPI_Allreduce(mine, all, 2, MPI_LONG_LONG, MPI_SUM, comm);
    return (Findings){all[0], all[1]};
}

typedef void (*Act)(const Items *items, int owner, int item, Trouble *trouble);

typedef struct Kind {
    const char *name, *title;
    size_t chosen; /* Offset of the option that selects this phase in the configuration. */
    Act act;       /* Function that acts on one item; NULL for the search. */
    int shift;     /* Distance, in strides, from the rank that acts on an item to the rank that created it. */
} Kind;

enum { CREATE, STAT, READ, REMOVE, FIND };

/* In the phases stat, read and remove a rank acts on items that another rank created, so that its own cache
 * does not have them. */
static const Kind KINDS[PHASE_COUNT] = {
    [CREATE] = {"create", "File creation", offsetof(Config, create), item_create, 0},
    [STAT] = {"stat", "File stat", offsetof(Config, stat), item_stat, 1},
    [READ] = {"read", "File read", offsetof(Config, read), item_read, 2},
    [REMOVE] = {"remove", "File removal", offsetof(Config, remove), item_remove, 3},
    [FIND] = {"find", "Find", offsetof(Config, find), NULL, 0},
};

void run_prepare(Run *run, const Config *config, MPI_Comm comm)
{
    *run = (Run){.config = config};
    items_make(&run->items, config, comm);
    for (int p = 0; p < PHASE_COUNT; p++)
        run->steps[p] = (Step){
            .name = KINDS[p].name,
            .title = KINDS[p].title,
            .chosen = *(const bool *)((const char *)config + KINDS[p].chosen),
            .timed = allocate(config->iterations, sizeof(Timed)),
        };
}

void run_free(Run *run)
{
    for (int p = 0; p < PHASE_COUNT; p++)
        free(run->steps[p].timed);
    items_free(&run->items);
}

static Timed summed(const Kind *kind, const Items *items, double mine, double *seconds)
{
    const Config *config = items->config;
    long long count = (long long)config->items * items->ranks;
    Timed timed = {.items = count, .seconds = spread_over_ranks(mine, items->comm)};
    timed.rate = (double)count / timed.seconds.max;
    timed.latency = latency_apart(seconds, config->items, items->comm);
    timed.latency.operation = kind->title;
    timed.latency.bytes = config->write_bytes;
    timed.moved = count * (kind->act == item_create ? config->write_bytes
                           : kind->act == item_read ? config->read_bytes
                                                    : 0);
    return timed;
}

static Timed perform(const Kind *kind, const Items *items, Trouble *trouble)
{
    const Config *config = items->config;
    double *seconds = allocate(config->items, sizeof(double));
    int owner = (items->rank + kind->shift * config->stride) % items->ranks;
    MPI_Barrier(items->comm);
    double begin = MPI_Wtime(), before = begin, now = begin;
    for (int i = 0; i < config->items && !trouble->any; i++, before = now) {
        kind->act(items, owner, i, trouble);
        now = MPI_Wtime();
        seconds[i] = now - before;
    }
    Timed timed = {0};
    if (!trouble_shared(trouble, items->comm))
        timed = summed(kind, items, now - begin, seconds);
    free(seconds);
    return timed;
}

static Timed search(Run *run, Trouble *trouble)
{
    MPI_Comm comm = run->items.comm;
    MPI_Barrier(comm);
    double begin = MPI_Wtime();
    Findings findings = find_below(run->config, comm, trouble);
    Timed timed = {.items = findings.files, .seconds = spread_over_ranks(MPI_Wtime() - begin, comm)};
    timed.rate = (double)timed.items / timed.seconds.max;
    run->found = findings.found;
    trouble_shared(trouble, comm);
    return timed;
}

/* Runs one iteration; returns true if it made folders that still exist. */
static bool iterate(Run *run, int iteration, Trouble *trouble)
{
    bool made = false;
    for (int p = 0; p < PHASE_COUNT && !trouble->any; p++) {
        Step *step = &run->steps[p];
        if (!step->chosen)
            continue;
        if (p == CREATE) {
            folders_make(&run->items, trouble);
            if (trouble->any)
                return false;
            made = true;
        }
        step->timed[iteration] = p == FIND ? search(run, trouble) : perform(&KINDS[p], &run->items, trouble);
        if (p == REMOVE && !trouble->any) {
            folders_remove(&run->items, trouble);
            made = false;
        }
    }
    return made;
}

void run_all(Run *run, Trouble *trouble)
{
    double begin = MPI_Wtime();
    for (int i = 0; i < run->config->iterations && !trouble->any; i++)
        if (iterate(run, i, trouble) && trouble->any)
            items_clear(&run->items);
    run->total_seconds = MPI_Wtime() - begin;
}
