/* The table of each rank's node, processors and MPI thread level. */
#include <sched.h>
#include <stdio.h>

#include "../../memory/area.h"
#include "../../runtime/wrap.h"
#include "../../system/system_call.h"
#include "../../tables/process_table.h"

enum { CPUS = 8192, CPU_TEXT = 128, HOST_TEXT = 64 };

struct place {
    double begin_time;
    int32_t thread_level, known;
    char cpus[CPU_TEXT];
};

struct row {
    int64_t rank;
    char host[HOST_TEXT], cpus[CPU_TEXT];
    int32_t cpu_count, thread_level;
    double begin_time;
};

static const struct column COLUMNS[] = {
    COLUMN(rank, "<i8", "rank", "the rank"),
    TEXT(host, "S64", "host name of the rank's node", TEXT_NAME),
    TEXT(cpus, "S128",
         "processors of the node on which the rank could run at the end of MPI_Init, such as 0-3,8; cut at "
         "128 bytes",
         TEXT_WORD),
    COLUMN(cpu_count, "<i4", "processors", "number of processors in `cpus`; 0: not known"),
    COLUMN(thread_level, "<i4", "level",
           "thread level that MPI_Query_thread returned: 0 single, 1 funneled, 2 serialized, 3 multiple, "
           "with any MPI library"),
    COLUMN(begin_time, "<f8", "s",
           "time that the profiler added to MPI_Init on this rank, waiting for the profiler on other ranks "
           "included"),
};

/* Writes processors as the kernel lists them: ranges, separated by commas. Returns their number. */
static int list_cpus(char *text, size_t size)
{
    unsigned long mask[CPUS / (8 * sizeof(long))] = {0};
    const int bits = 8 * (int)sizeof(long);
    size_t used = 0;
    int count = 0;
    if (system_call(SYS_sched_getaffinity, 0, sizeof mask, mask) <= 0)
        return 0;
    for (int cpu = 0, last; cpu < CPUS; cpu = last + 1) {
        for (last = cpu; last < CPUS && mask[last / bits] >> last % bits & 1; last++)
            count++;
        if (last == cpu || used >= size)
            continue;
        used += (size_t)snprintf(text + used, size - used, last - cpu > 1 ? "%s%d-%d" : "%s%d",
                                 used ? "," : "", cpu, last - 1);
    }
    return count;
}

IOLENS_EXPORT void iolens_mpi_began(int level, double seconds)
{
    struct place *place = iolens_active() ? table_state(TABLE_rank_places) : NULL;
    if (!place)
        return;
    place->thread_level = level;
    place->begin_time = seconds;
    place->known = list_cpus(place->cpus, sizeof place->cpus);
}

static bool validate(const void *state, const struct area *area)
{
    const struct place *place = state;
    (void)area;
    return place->known >= 0 && place->known <= CPUS;
}

/* Collects this rank's row of `rank_places`. Ranks for which there is no room have no row. */
static void collect(const struct iolens_transport *transport, struct buffer *rows)
{
    const struct place *place = table_state_known(TABLE_rank_places);
    struct row row = {.rank = transport->rank};
    if (!place || transport->rank >= tables_most_rows(false))
        return;
    row.cpu_count = place->known;
    row.thread_level = place->thread_level;
    row.begin_time = place->begin_time;
    memcpy(row.cpus, place->cpus, sizeof row.cpus);
    memcpy(row.host, iolens.identity.host, strnlen(iolens.identity.host, sizeof row.host));
    buffer_put(rows, &row, sizeof row);
}

const struct process_table table_rank_places = {
    .name = "rank_places",
    .meaning = "The node and the processors of each rank, where MPI is traced",
    TABLE_ROWS(COLUMNS),
    .recording.state_bytes = sizeof(struct place),
    .recording.validate = validate,
    .merging.collect = collect,
};
