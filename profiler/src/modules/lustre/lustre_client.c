#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>

#include "../../runtime/context.h"
#include "../../system/path.h"
#include "../../system/system_call.h"
#include "../../tables/process_table.h"
#include "lustre.h"

static struct lustre_client {
    bool begun;
    struct buffer before; /* The counters' values at the start of the job, as struct lustre_counter. */
} iolens_client;

enum { STATS_BYTES = 16384, ENTRIES_BYTES = 4096 };

static const char *const LAYERS[] = {"llite", "osc"};

/* Variables in which launchers give a rank's number on its node. */
static const char *const LOCAL_RANKS[] = {"OMPI_COMM_WORLD_LOCAL_RANK", "MPI_LOCALRANKID",
                                          "PALS_LOCAL_RANKID",          "PMI_LOCAL_RANK",
                                          "MV2_COMM_WORLD_LOCAL_RANK",  "SLURM_LOCALID"};

/* Returns true if this rank reads the counters of its node. If no launcher variable tells a rank's place on
 * its node, every rank reads them, and the report takes one rank of each node. */
static bool speaks_for_node(void)
{
    for (size_t i = 0; i < sizeof LOCAL_RANKS / sizeof *LOCAL_RANKS; i++) {
        const char *rank = getenv(LOCAL_RANKS[i]);
        if (rank)
            return strcmp(rank, "0") == 0;
    }
    return true;
}

/* Reads a counter from a line such as "read_bytes  13641 samples [bytes] 1 3366225 468230469", whose
 * smallest, largest and sum may be absent. */
bool lustre_client_line(const char *line, struct lustre_counter *counter)
{
    long long samples, sum = 0;
    int found =
        sscanf(line, "%31s %lld samples [%7[^]]] %*d %*d %lld", counter->name, &samples, counter->unit, &sum);
    counter->samples = samples;
    counter->sum = sum;
    return found >= 3;
}

static void read_device(struct buffer *out, const char *folder, const char *layer, const char *device)
{
    char path[PATH_BYTES], *text = pages_alloc(STATS_BYTES);
    snprintf(path, sizeof path, "%s/%s/%s/stats", folder, layer, device);
    if (!text)
        return;
    slurp(path, text, STATS_BYTES);
    for (const char *line = text; *line;) {
        struct lustre_counter counter = {0};
        snprintf(counter.layer, sizeof counter.layer, "%s", layer);
        snprintf(counter.device, sizeof counter.device, "%.63s", device);
        if (lustre_client_line(line, &counter))
            buffer_put(out, &counter, sizeof counter);
        line += strcspn(line, "\n");
        line += *line == '\n';
    }
    pages_free(text, STATS_BYTES);
}

/* Reads the folder by system calls, because opendir allocates from the program's malloc. */
static void read_layer(struct buffer *out, const char *folder, const char *layer)
{
    char path[PATH_BYTES], entries[ENTRIES_BYTES] __attribute__((aligned(8)));
    snprintf(path, sizeof path, "%s/%s", folder, layer);
    int fd = (int)system_call(SYS_openat, AT_FDCWD, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0);
    long used;
    while (fd >= 0 && (used = system_call(SYS_getdents64, fd, entries, sizeof entries)) > 0)
        for (long at = 0; at < used;) {
            const struct dirent64 *entry = (const struct dirent64 *)(entries + at);
            if (entry->d_name[0] != '.')
                read_device(out, folder, layer, entry->d_name);
            at += entry->d_reclen;
        }
    if (fd >= 0)
        system_call(SYS_close, fd);
}

/* Reads the counters in the folders of the setting `lustre_stats`, a list separated by ':'. */
static void read_all(struct buffer *out)
{
    char folder[PATH_BYTES];
    for (const char *at = iolens.settings.lustre_stats; *at;) {
        size_t length = strcspn(at, ":");
        snprintf(folder, sizeof folder, "%.*s", (int)length, at);
        for (size_t i = 0; length > 0 && i < sizeof LAYERS / sizeof *LAYERS; i++)
            read_layer(out, folder, LAYERS[i]);
        at += length + (at[length] == ':');
    }
}

void lustre_client_begin(void)
{
    if (iolens_client.begun)
        return;
    iolens_client.begun = true;
    if (speaks_for_node())
        read_all(&iolens_client.before);
}

struct row {
    int64_t rank;
    char node[HOST_BYTES], layer[LUSTRE_LAYER_BYTES], device[LUSTRE_DEVICE_BYTES];
    char counter[LUSTRE_COUNTER_BYTES], unit[LUSTRE_UNIT_BYTES];
    int64_t samples_before, samples_after, sum_before, sum_after;
};

static const struct column COLUMNS[] = {
    COLUMN(rank, "<i8", "rank", "the rank that read the counters of its node"),
    TEXT(node, "S64", "host name", TEXT_NAME),
    TEXT(layer, "S8", "llite: counts calls of programs; osc: counts requests to servers", TEXT_WORD),
    TEXT(device, "S64", "file system or target, as the client calls it", TEXT_NAME),
    TEXT(counter, "S32", "name of the counter", TEXT_WORD),
    TEXT(unit, "S8", "unit of the two sums", TEXT_WORD),
    COLUMN(samples_before, "<i8", "samples", "number of samples that Lustre had counted when the job began"),
    COLUMN(samples_after, "<i8", "samples", "number of samples that Lustre had counted when the job ended"),
    COLUMN(sum_before, "<i8", "unit", "sum of the samples when the job began; 0 for a counter without a sum"),
    COLUMN(sum_after, "<i8", "unit", "sum of the samples when the job ended"),
};

static bool is_same(const struct lustre_counter *a, const struct lustre_counter *b)
{
    return strcmp(a->name, b->name) == 0 && strcmp(a->device, b->device) == 0 &&
           strcmp(a->layer, b->layer) == 0;
}

/* Returns the value that a counter had at the start of the job. It is nearly always at the same place of the
 * list; a counter that is not in the list was 0. */
static const struct lustre_counter *before(const struct lustre_counter *now, size_t place)
{
    static const struct lustre_counter NONE = {0};
    const struct lustre_counter *counter = (const struct lustre_counter *)iolens_client.before.data;
    size_t count = iolens_client.before.used / sizeof *counter;
    if (place < count && is_same(&counter[place], now))
        return &counter[place];
    for (size_t i = 0; i < count; i++)
        if (is_same(&counter[i], now))
            return &counter[i];
    return &NONE;
}

static void add_row(struct buffer *rows, int64_t rank, const struct lustre_counter *then,
                    const struct lustre_counter *after)
{
    struct row row = {.rank = rank,
                      .samples_before = then->samples,
                      .samples_after = after->samples,
                      .sum_before = then->sum,
                      .sum_after = after->sum};
    memcpy(row.node, iolens.identity.host, sizeof row.node);
    memcpy(row.layer, after->layer, sizeof row.layer);
    memcpy(row.device, after->device, sizeof row.device);
    memcpy(row.counter, after->name, sizeof row.counter);
    memcpy(row.unit, after->unit, sizeof row.unit);
    buffer_put(rows, &row, sizeof row);
}

static void collect(const struct iolens_transport *transport, struct buffer *rows)
{
    struct buffer after = {0};
    if (iolens_client.before.used > 0)
        read_all(&after);
    const struct lustre_counter *now = (const struct lustre_counter *)after.data;
    for (size_t i = 0; i < after.used / sizeof *now; i++) {
        const struct lustre_counter *then = before(&now[i], i);
        if (now[i].samples != then->samples || now[i].sum != then->sum)
            add_row(rows, transport->rank, then, &now[i]);
    }
    buffer_free(&after);
}

static void reset(void) { iolens_client = (struct lustre_client){0}; }

const struct process_table table_lustre_client = {
    .name = "lustre_client",
    .meaning = "A counter of the Lustre client that changed during the job, read by one rank of each node. "
               "It counts all programs of the node. The table is absent without Lustre, where the counters "
               "cannot be read, and in recovered logs",
    TABLE_ROWS(COLUMNS),
    .recording.begin = lustre_client_begin,
    .recording.reset = reset,
    .merging.collect = collect,
};
