#include <fnmatch.h>
#include <stdlib.h>

#include "../../files/filter.h"
#include "../../files/registry.h"
#include "../../runtime/context.h"
#include "../../system/path.h"
#include "../posix_record.h"
#include "dxt.h"

static struct dxt_filter {
    bool on;
    /* Smallest share (0 to 1) of small or of unaligned accesses with which a file's trace is kept; a negative
     * value keeps every trace. */
    double small, unaligned;
    size_t limit;       /* Bytes that traces may use. */
    atomic_size_t left; /* Bytes that traces may still use. */
} iolens_dxt;

enum { MIB = 1024 * 1024, ANY = -1 };

/* Reads a share between 0 and 1, or returns ANY. */
static double share(const char *name, const char *text)
{
    char *end;
    double value = text ? strtod(text, &end) : ANY;
    if (!text || (end != text && *end == '\0' && value >= 0 && value <= 1))
        return value;
    iolens_say("%s=%s is not a share between 0 and 1, so the setting is ignored", name, text);
    return ANY;
}

void dxt_start(void)
{
    struct dxt_filter *filter = &iolens_dxt;
    struct settings *settings = &iolens.settings;
    char *end;
    if (iolens_filter.modules_on & (1u << MODULE_DXT_POSIX | 1u << MODULE_DXT_MPIIO))
        settings->dxt = "1";
    *filter = (struct dxt_filter){.on = settings_true(settings->dxt)};
    if (!filter->on)
        return;
    filter->small = share("IOLENS_DXT_SMALL_IO_TRIGGER", settings->dxt_small);
    filter->unaligned = share("IOLENS_DXT_UNALIGNED_IO_TRIGGER", settings->dxt_unaligned);
    unsigned long long memory = strtoull(settings->dxt_memory, &end, 10);
    if (*end != '\0' || settings->dxt_memory[0] == '-' || memory > SIZE_MAX / MIB) {
        iolens_say("IOLENS_DXT_MEMORY=%s is not a number of MiB, so the default 64 is used",
                   settings->dxt_memory);
        memory = 64;
    }
    filter->left = filter->limit = (size_t)memory * MIB;
    if (!ranks_valid(settings->dxt_ranks)) {
        iolens_say("IOLENS_DXT_RANKS=%s is not a list such as 0:3,8, so all ranks are traced",
                   settings->dxt_ranks);
        settings->dxt_ranks = "";
    }
}

void dxt_reset(void) { iolens_dxt.left = iolens_dxt.limit; }

bool dxt_take(size_t bytes)
{
    size_t left = iolens_dxt.left;
    do {
        if (left < bytes)
            return false;
    } while (!atomic_compare_exchange_weak(&iolens_dxt.left, &left, left - bytes));
    return true;
}

static bool name_matches(const char *path, const char *patterns)
{
    char *pattern = path_room_take();
    bool matches = false;
    while (pattern && *patterns && !matches) {
        size_t length = strcspn(patterns, ",");
        if (length < PATH_BYTES) {
            memcpy(pattern, patterns, length);
            pattern[length] = '\0';
            matches = fnmatch(pattern, path, 0) == 0;
        }
        patterns += length + (patterns[length] == ',');
    }
    path_room_give(pattern);
    return matches;
}

static bool rank_matches(int64_t rank)
{
    const char *ranks = iolens.settings.dxt_ranks;
    return !*ranks || ranks_contain(ranks, rank);
}

bool dxt_wants_file(const struct file *file)
{
    const char *patterns = iolens.settings.dxt_files;
    return iolens_dxt.on && (!iolens.transport || rank_matches(iolens.transport->rank)) &&
           (!*patterns || name_matches(file->path, patterns));
}

/* Returns true if a file's traces get into the log. As in Darshan, accesses of up to 10 KiB are small, and
 * the trace of a file without a POSIX record is kept. */
bool dxt_keeps_file(const struct file *file, int64_t rank)
{
    const struct posix_record *posix = file->state[MODULE_POSIX]; /* A file's state of the POSIX module begins
                                                                   * with the record. */
    if (!rank_matches(rank))
        return false;
    if (!posix)
        return true;
    const int64_t *ints = posix->ints;
    int64_t all = ints[POSIX_READS] + ints[POSIX_WRITES], small = 0;
    for (int bucket = 0; bucket < 3; bucket++)
        small += ints[POSIX_SIZE_READ_0_100 + bucket] + ints[POSIX_SIZE_WRITE_0_100 + bucket];
    return all == 0 || ((double)small >= iolens_dxt.small * (double)all &&
                        (double)ints[POSIX_FILE_NOT_ALIGNED] >= iolens_dxt.unaligned * (double)all);
}
