#include "find.h"

#include <errno.h>
#include <fnmatch.h>
#include <fts.h>
#include <string.h>
#include <sys/stat.h>

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

Findings find_below(const Config *config, MPI_Comm comm, Trouble *trouble)
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
