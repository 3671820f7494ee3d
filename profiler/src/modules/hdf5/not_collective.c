/* Collective transfers of HDF5 datasets that the library carried out independently, and why. */
#include <stdlib.h>

#include "../../callers/call_nodes.h"
#include "../../files/registry.h"
#include "../../tables/process_table.h"
#include "hdf5.h"

#define NS_PER_SECOND 1e9

/* The bits of H5Pget_mpio_no_collective_cause since HDF5 1.10.2, in their order; 0x40 has another meaning
 * before. */
static const char *const CAUSES[] = {
    "independent transfer asked",
    "conversion of types",
    "data transforms",
    "HDF5_MPI_OPT_TYPES=0",
    "not a simple or scalar dataspace",
    "neither contiguous nor chunked",
    "filtered dataset",
    "error in the check",
    "no selection I/O",
    "each chunk by itself",
};

enum {
    CAUSE_BYTES = 40,
    CAUSE_COUNT = sizeof CAUSES / sizeof *CAUSES,
    EACH_CHUNK = CAUSE_COUNT - 1,
    CHUNK_INDEPENDENT = 1
};

struct cause_counts {
    _Atomic int64_t own, others, ns;
    _Atomic uint32_t node; /* Number of the call-chain node plus 1; 0: not known. */
};

struct dataset_counts {
    _Atomic int64_t collective;
    struct cause_counts cause[CAUSE_COUNT];
};

struct row {
    uint64_t dataset;
    int64_t rank;
    char cause[CAUSE_BYTES];
    int64_t own, others, collective;
    double seconds;
    int32_t node;
};

static const struct column COLUMNS[] = {
    COLUMN(dataset, "<u8", "record id", "the dataset, by its id in the name region"),
    COLUMN(rank, "<i8", "rank", "the rank to which these numbers belong"),
    TEXT(cause, "S40", "the reason, as HDF5 gives it; a call may have several", TEXT_WORD),
    COLUMN(own, "<i8", "calls", "calls that were not collective because of this rank"),
    COLUMN(others, "<i8", "calls", "calls that were not collective because of other ranks"),
    COLUMN(collective, "<i8", "calls",
           "calls of this rank on the dataset that were collective, as requested"),
    COLUMN(seconds, "<f8", "s", "time in the calls of `own` and `others`"),
    COLUMN(node, "<i4", "node",
           "the place of the first such call, a row of `call_nodes` (IOLENS_IO_CALLERS); -1: not recorded"),
};

static uint32_t causes_of(const struct hdf5_calls *hdf5, hid_t transfer, bool *by_others)
{
    uint32_t local = 0, global = 0;
    int mode = 0;
    if (hdf5->H5Pget_mpio_no_collective_cause(transfer, &local, &global) < 0)
        return 0;
    uint32_t known = (1u << EACH_CHUNK) - 1;
    *by_others = !(local & known);
    if ((local | global) & known)
        return (local & known) ? local & known : global & known;
    bool each_chunk = hdf5->H5Pget_mpio_actual_io_mode &&
                      hdf5->H5Pget_mpio_actual_io_mode(transfer, &mode) >= 0 && mode == CHUNK_INDEPENDENT;
    *by_others = false;
    return each_chunk ? 1u << EACH_CHUNK : 0;
}

static void count(const struct call *c, struct cause_counts *counts, bool by_others)
{
    uint32_t unknown = 0;
    int callers = atoi(iolens.settings.io_callers);
    atomic_fetch_add_explicit(by_others ? &counts->others : &counts->own, 1, memory_order_relaxed);
    atomic_fetch_add_explicit(&counts->ns, clock_ns_of(c->t1 - c->t0), memory_order_relaxed);
    if (callers > 0 && callers <= CHAIN_MOST && !counts->node)
        atomic_compare_exchange_strong(&counts->node, &unknown,
                                       chain_node((uintptr_t)c->caller, callers) + 1);
}

void hdf5_on_collective(const struct call *c, struct file *dataset, hid_t transfer)
{
    const struct hdf5_calls *hdf5 = hdf5_calls();
    bool by_others = false;
    struct dataset_counts *counts = hdf5->H5Pget_mpio_no_collective_cause && dataset && !iolens_paused()
                                        ? table_file_state(TABLE_hdf5_not_collective, dataset)
                                        : NULL;
    if (!counts)
        return;
    uint32_t causes = causes_of(hdf5, transfer, &by_others);
    counts->collective += !causes;
    for (int i = 0; i < CAUSE_COUNT; i++)
        if (causes & 1u << i)
            count(c, &counts->cause[i], by_others);
}

static void collect(const struct iolens_transport *transport, struct buffer *rows)
{
    for (struct file *file = iolens_registry.first; file; file = file->next) {
        const struct dataset_counts *counts = table_file_state_known(TABLE_hdf5_not_collective, file);
        for (int i = 0; counts && i < CAUSE_COUNT; i++) {
            const struct cause_counts *cause = &counts->cause[i];
            struct row row = {
                .dataset = file->id,
                .rank = transport->rank,
                .own = cause->own,
                .others = cause->others,
                .collective = counts->collective,
                .seconds = (double)cause->ns / NS_PER_SECOND * iolens.timeline.factor,
                .node = cause->node ? call_node_written(cause->node - 1) : -1,
            };
            memcpy(row.cause, CAUSES[i], strlen(CAUSES[i]));
            if (row.own + row.others > 0)
                buffer_put(rows, &row, sizeof row);
        }
    }
}

const struct process_table table_hdf5_not_collective = {
    .name = "hdf5_not_collective",
    .meaning = "Transfers of an HDF5 dataset for which the program asked for collective calls, and which "
               "HDF5 carried out independently",
    TABLE_ROWS(COLUMNS),
    .recording.file_bytes = sizeof(struct dataset_counts),
    .merging.collect = collect,
};
