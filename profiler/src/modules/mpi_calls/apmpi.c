/* Writes the MPI calls of TABLE_mpi_sites a second time, as Darshan's APMPI module records them, for
 * Darshan's own tools: a header by rank 0, then a record of each rank. */
#include "../../files/registry.h"
#include "../../runtime/context.h"
#include "../../tables/process_table.h"
#include "mpi_calls.h"

enum { NODE_NAME = 128 };

static const int64_t MAGIC = ((int64_t)'A' << 32) + ('P' << 24) + ('M' << 16) + ('P' << 8) + 'I';

/* Index of an operation's first number in each array of a record: `counters` (calls, bytes, calls by size),
 * `times` (total, shortest and longest time), `sync` (time in barriers). */
enum {
#define APMPI_BYTES(moves, name)  COUNTERS_##name, COUNTERS_END_##name = COUNTERS_##name + 1 + APMPI_SIZES,
#define APMPI_SYNCED(moves, name) APMPI_BYTES(moves, name)
#define APMPI_CALLS(name)         COUNTERS_##name,
#define APMPI_BARRIER(name)       COUNTERS_##name,
#include "apmpi.def"
    COUNTERS
#undef APMPI_BYTES
#undef APMPI_SYNCED
#undef APMPI_CALLS
#undef APMPI_BARRIER
};

enum {
#define APMPI_BYTES(moves, name)  TIMES_##name, TIMES_END_##name = TIMES_##name + 2,
#define APMPI_SYNCED(moves, name) APMPI_BYTES(moves, name)
#define APMPI_CALLS(name)         APMPI_BYTES(, name)
#define APMPI_BARRIER(name)       APMPI_BYTES(, name)
#include "apmpi.def"
    TIMES
#undef APMPI_BYTES
#undef APMPI_SYNCED
#undef APMPI_CALLS
#undef APMPI_BARRIER
};

enum {
#define APMPI_BYTES(moves, name)
#define APMPI_SYNCED(moves, name) SYNC_##name,
#define APMPI_CALLS(name)
#define APMPI_BARRIER(name) SYNC_##name,
#include "apmpi.def"
    SYNCS
#undef APMPI_BYTES
#undef APMPI_SYNCED
#undef APMPI_CALLS
#undef APMPI_BARRIER
};

/* Places of the numbers of each MPI function in the arrays of a record; `known` is false for functions that
 * Darshan's record lacks. */
static const struct operation {
    bool known, has_bytes, synced;
    int16_t counters, times, sync;
} OPERATIONS[IOLENS_MPI_FUNCTIONS] = {
#define OPERATION(name, ...)      [IOLENS_MPI_##name] = {true, __VA_ARGS__},
#define APMPI_BYTES(moves, name)  OPERATION(name, true, false, COUNTERS_##name, TIMES_##name, 0)
#define APMPI_SYNCED(moves, name) OPERATION(name, true, true, COUNTERS_##name, TIMES_##name, SYNC_##name)
#define APMPI_CALLS(name)         OPERATION(name, false, false, COUNTERS_##name, TIMES_##name, 0)
#define APMPI_BARRIER(name)       OPERATION(name, false, true, COUNTERS_##name, TIMES_##name, SYNC_##name)
#include "apmpi.def"
};

struct header {
    struct record_base base;
    int64_t magic;
    uint32_t synced, padding;
    double time_variance, sync_variance;
};

struct record {
    struct record_base base;
    int64_t counters[COUNTERS];
    double times[TIMES], sync[SYNCS], time, sync_time;
    char node[NODE_NAME];
};

_Static_assert(sizeof(struct header) == 48, "struct header must have the 48 bytes of Darshan's APMPI header");
_Static_assert(COUNTERS == 396 && TIMES == 222 && SYNCS == 16,
               "apmpi.def must have the counters of Darshan's APMPI record");

/* The state of the module APMPI on this rank. */
struct apmpi_state {
    bool calls;  /* True if this rank called functions that Darshan's record has. */
    bool synced; /* True if a rank waited in timed barriers. */
    double time_variance, sync_variance;
};

static void add_times(double times[3], const struct mpi_site *site)
{
    bool first = times[2] == 0;
    times[0] += site->time;
    times[1] = first || site->min_time < times[1] ? site->min_time : times[1];
    times[2] = site->max_time > times[2] ? site->max_time : times[2];
}

static void add_site(struct record *record, const struct operation *operation, const struct mpi_site *site)
{
    int64_t *counters = record->counters + operation->counters;
    counters[0] += site->calls;
    counters[1] += operation->has_bytes ? site->moved : 0;
    for (int i = 0; operation->has_bytes && i < APMPI_SIZES; i++)
        counters[2 + i] += site->moved_sizes[i];
    add_times(record->times + operation->times, site);
    record->time += site->time + (operation->synced ? site->sync : 0);
    record->sync_time += operation->synced ? site->sync : 0;
    if (operation->synced)
        record->sync[operation->sync] += site->sync;
}

/* Returns false if no function that the record has was called. */
static bool fill(struct record *record)
{
    bool any = false;
    *record = (struct record){0};
    struct keyed_row *row = mpi_sites_first(table_state_known(TABLE_mpi_sites));
    for (; row; row = keyed_next(row)) {
        const struct mpi_site_key *key = keyed_key(row);
        const struct mpi_site *site = mpi_site_of(row);
        const struct operation *operation = &OPERATIONS[key->function];
        if (site->calls == 0 || !operation->known)
            continue;
        add_site(record, operation, site);
        any = true;
    }
    return any;
}

static double variance(double ranks, double sum, double squares)
{
    double mean = sum / ranks, value = squares / ranks - mean * mean;
    return value > 0 ? value : 0;
}

static bool apmpi_speaks(void) { return table_state_known(TABLE_mpi_sites) != NULL; }

/* Returns true if the log has room for the records of all ranks; each record counts as many rows as it has
 * operations. Otherwise no rank writes a record. */
static bool fits(int ranks) { return (int64_t)ranks * (TIMES / 3) <= tables_most_rows(false); }

/* Lets all ranks agree on whether they write records, and gives the record the variances over the ranks. Rank
 * 0 leads the region with the header, whether it made calls or not; if it has no room for the header, no rank
 * writes a record, because readers need the header. */
static void apmpi_agree(const struct iolens_transport *transport)
{
    struct record record;
    bool calls = fill(&record);
    bool writes = calls || transport->rank == 0;
    struct file *file = writes ? registry_file("APMPI") : NULL;
    struct apmpi_state *state = file ? registry_state_at_end(file, MODULE_APMPI, -1) : NULL;
    double factor = iolens.timeline.factor;
    double time = record.time * factor, sync = record.sync_time * factor;
    bool leads = transport->rank == 0 && state;
    double sums[] = {calls, time, time * time, sync, sync * sync, leads};
    bool agreed = transport->allreduce(sums, 6, IOLENS_DOUBLE, IOLENS_SUM) == 0;
    bool wanted = agreed && sums[0] > 0 && sums[5] > 0, fit = fits(transport->size);
    if (wanted && !fit)
        registry_leave_out(1u << MODULE_APMPI);
    if (state && wanted && fit)
        *state = (struct apmpi_state){calls, sums[3] > 0, variance(sums[0], sums[1], sums[2]),
                                      variance(sums[0], sums[3], sums[4])};
    else if (state)
        file->state[MODULE_APMPI] = NULL;
}

/* Refuses every state from a spool: only the writing of a log makes states, so this one is damaged. */
static bool apmpi_validate(const void *state, const struct area *area)
{
    (void)state;
    (void)area;
    return false;
}

static struct header header_of(const struct apmpi_state *state, uint64_t id)
{
    return (struct header){.base = {id, 0},
                           .magic = MAGIC,
                           .synced = state->synced,
                           .time_variance = state->time_variance,
                           .sync_variance = state->sync_variance};
}

static void correct(struct record *record)
{
    double factor = iolens.timeline.factor;
    for (int i = 0; i < TIMES; i++)
        record->times[i] *= factor;
    for (int i = 0; i < SYNCS; i++)
        record->sync[i] *= factor;
    record->time *= factor;
    record->sync_time *= factor;
}

static size_t apmpi_serialize(const void *given, const struct file *file, int64_t rank, void *buffer)
{
    const struct apmpi_state *state = given;
    struct header header = header_of(state, file->id);
    size_t head = rank == 0 ? sizeof header : 0;
    if (buffer && head)
        memcpy(buffer, &header, head);
    if (buffer && state->calls) {
        struct record record;
        fill(&record);
        correct(&record);
        record.base = (struct record_base){file->id, rank};
        strncpy(record.node, iolens.identity.host, sizeof record.node - 1);
        memcpy((char *)buffer + head, &record, sizeof record);
    }
    return head + (state->calls ? sizeof(struct record) : 0);
}

const struct module module_APMPI = {
    .id = 14,
    .version = 1,
    .name = "APMPI",
    .state_bytes = sizeof(struct apmpi_state),
    .limit = "IOLENS_FILE_RANKS",
    .per_rank = true,
    .speaks = apmpi_speaks,
    .agree = apmpi_agree,
    .validate = apmpi_validate,
    .serialize = apmpi_serialize,
};
