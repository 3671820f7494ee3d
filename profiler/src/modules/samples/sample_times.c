/* The table `sample_times`: the time of each single sample. */
#include "../../callers/call_nodes.h"
#include "../../memory/area.h"
#include "../../runtime/context.h"
#include "../../sampling/state.h"
#include "../../tables/process_table.h"

struct row {
    int64_t rank;
    double time;
    int32_t thread, node, periods;
    uint8_t kind;
};

static const struct column COLUMNS[] = {
    COLUMN(rank, "<i8", "rank", "the rank that was sampled"),
    COLUMN(thread, "<i4", "thread", "the thread, a number of `sampling`"),
    COLUMN(time, "<f8", "s", "time since the start of the job"),
    COLUMN(node, "<i4", "node",
           "the innermost place of the call chain, a row of `call_nodes`; -1: not known"),
    COLUMN(periods, "<i4", "periods",
           "number of timer periods that this sample counts for; the last one ended at `time`"),
    COLUMN(kind, "<u1", "kind", "0: the thread was running; 1: it waited in a system call or for a core"),
};

static bool validate(const void *state, const struct area *area)
{
    const struct sample_times *times = state;
    for (const struct sample_times_chunk *chunk = times->newest; chunk; chunk = chunk->older) {
        if (!area_holds(area, chunk, sizeof *chunk, 1) || chunk->used < 0)
            return false;
        for (int64_t i = 0; i < sample_times_in(chunk); i++)
            if (!is_measured_time(chunk->entry[i].time))
                return false;
    }
    return true;
}

static double latest(const void *state)
{
    const struct sample_times *times = state;
    double end = 0;
    for (const struct sample_times_chunk *chunk = times->newest; chunk; chunk = chunk->older)
        for (int64_t i = 0; i < sample_times_in(chunk); i++)
            if (chunk->entry[i].time > end)
                end = chunk->entry[i].time;
    return end;
}

static void put(struct buffer *rows, const struct sample_time *entry, int rank)
{
    struct row row = {.rank = rank,
                      .time = timeline_at(&iolens.timeline, entry->time),
                      .thread = (int32_t)entry->thread,
                      .node = call_node_written(entry->node),
                      .periods = (int32_t)entry->periods,
                      .kind = entry->waited != 0};
    buffer_put(rows, &row, sizeof row);
}

static void collect(const struct iolens_transport *transport, struct buffer *rows)
{
    const struct sample_times *times = table_state_known(TABLE_sample_times);
    const struct sample_times_chunk *chunk = times ? times->newest : NULL;
    for (; chunk; chunk = chunk->older)
        for (int64_t i = 0; i < sample_times_in(chunk); i++)
            put(rows, &chunk->entry[i], transport->rank);
}

const struct process_table table_sample_times = {
    .name = "sample_times",
    .meaning = "One sample with its time (IOLENS_TIMELINE)",
    TABLE_ROWS(COLUMNS),
    .recording.state_bytes = sizeof(struct sample_times),
    .recording.validate = validate,
    .recording.latest = latest,
    .merging.on_demand = true,
    .merging.collect = collect,
    .remarks.left_out_text = "On some rank the time line of samples ends before the program does. Raise "
                             "IOLENS_TIMELINE, the number of samples kept.",
    .remarks.left_out_at = offsetof(struct sample_times, left_out),
};
