#include "../../memory/area.h"
#include "../../runtime/context.h"
#include "../../system/spin.h"
#include "../../tables/process_table.h"
#include "dxt.h"

enum { CHUNK = 128, WORD = 16 };

static const char words[TRACED_EVENTS][WORD] = {
    [TRACED_OPEN] = "open",           [TRACED_DUP] = "dup",
    [TRACED_FILENO] = "fileno",       [TRACED_SYNC] = "sync",
    [TRACED_DATA_SYNC] = "data sync", [TRACED_CLOSE] = "close",
    [TRACED_MPI_OPEN] = "MPI open",   [TRACED_MPI_SYNC] = "MPI sync",
    [TRACED_MPI_CLOSE] = "MPI close", [TRACED_COLLECTIVE] = "collective",
    [TRACED_VIEW] = "MPI view",
};

struct event {
    uint64_t file;
    int64_t view;
    double t0, t1;
    int64_t what;
};

struct chunk {
    struct chunk *older;
    int64_t used;
    struct event event[CHUNK];
};

struct traced_events {
    struct spin lock;
    struct chunk *newest;
    int64_t left_out;
};

static bool grow(struct traced_events *events)
{
    struct chunk *chunk = dxt_take(sizeof *chunk) ? arena_alloc(&iolens.arena, sizeof *chunk) : NULL;
    if (!chunk)
        return false;
    chunk->older = events->newest;
    events->newest = chunk;
    return true;
}

void traced_event_add(uint64_t file, enum traced_event event, int64_t view, double t0, double t1)
{
    struct traced_events *events = table_state(TABLE_traced_events);
    if (!events)
        return;
    spin_lock(&events->lock);
    if ((events->newest && events->newest->used < CHUNK) || grow(events))
        events->newest->event[events->newest->used++] = (struct event){file, view, t0, t1, event};
    else
        events->left_out++;
    spin_unlock(&events->lock);
}

struct row {
    uint64_t file;
    int64_t rank, view;
    char event[WORD];
    double start, end;
};

static const struct column COLUMNS[] = {
    COLUMN(file, "<u8", "record id", "the file, by its id in the name region"),
    COLUMN(rank, "<i8", "rank", "the rank that called"),
    TEXT(event, "S16",
         "the call: open, dup, fileno, sync (fsync), data sync (fdatasync), close; in MPI-IO: MPI open, MPI "
         "sync, MPI close, MPI view, or collective, a blocking collective transfer that DXT_MPIIO lists with "
         "the same times",
         TEXT_WORD),
    COLUMN(view, "<i8", "view", "for MPI view, the number of the view in `mpiio_views`; -1: none"),
    COLUMN(start, "<f8", "s", "start of the call since the job began"),
    COLUMN(end, "<f8", "s", "end of the call since the job began"),
};

static bool validate(const void *state, const struct area *area)
{
    for (const struct chunk *chunk = ((const struct traced_events *)state)->newest; chunk;
         chunk = chunk->older) {
        if (!area_holds(area, chunk, sizeof *chunk, 1) || chunk->used < 0 || chunk->used > CHUNK)
            return false;
        for (int64_t i = 0; i < chunk->used; i++)
            if (chunk->event[i].what < 0 || chunk->event[i].what >= TRACED_EVENTS ||
                !is_measured_time(chunk->event[i].t0) || !is_measured_time(chunk->event[i].t1))
                return false;
    }
    return true;
}

static double latest(const void *state)
{
    const struct traced_events *events = state;
    double end = 0;
    for (const struct chunk *chunk = events->newest; chunk; chunk = chunk->older)
        for (int64_t i = 0; i < chunk->used; i++)
            if (chunk->event[i].t1 > end)
                end = chunk->event[i].t1;
    return end;
}

static void put(struct buffer *rows, const struct event *event, int rank)
{
    struct row row = {.file = event->file,
                      .rank = rank,
                      .view = event->view,
                      .start = timeline_at(&iolens.timeline, event->t0),
                      .end = timeline_at(&iolens.timeline, event->t1)};
    memcpy(row.event, words[event->what], sizeof row.event);
    buffer_put(rows, &row, sizeof row);
}

static void collect(const struct iolens_transport *transport, struct buffer *rows)
{
    const struct traced_events *events = table_state_known(TABLE_traced_events);
    for (const struct chunk *chunk = events ? events->newest : NULL; chunk; chunk = chunk->older)
        for (int64_t i = 0; i < chunk->used; i++)
            put(rows, &chunk->event[i], transport->rank);
}

const struct process_table table_traced_events = {
    .name = "traced_events",
    .meaning = "An open, sync, close or view of a file whose transfers are traced (IOLENS_DXT)",
    TABLE_ROWS(COLUMNS),
    .recording.state_bytes = sizeof(struct traced_events),
    .recording.validate = validate,
    .recording.latest = latest,
    .merging.on_demand = true,
    .merging.collect = collect,
    .remarks.left_out_text = "On some rank the memory for traces did not suffice for all opens, closes "
                             "and views of traced files. Raise IOLENS_DXT_MEMORY.",
    .remarks.left_out_at = offsetof(struct traced_events, left_out),
};
