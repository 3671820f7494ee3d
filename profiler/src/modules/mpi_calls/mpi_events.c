#include "../../memory/area.h"
#include "../../runtime/context.h"
#include "../../runtime/thread_room.h"
#include "../../tables/process_table.h"
#include "mpi_calls.h"

enum { PER_CHUNK = 1024 };

struct event {
    double begin, end; /* Seconds since this process started recording. */
    int64_t bytes;
    int32_t peer;
    uint32_t thread, function;
    /* Written after all other members of the event, so that incomplete events can be detected. */
    _Atomic uint32_t whole;
};

struct chunk {
    struct chunk *older;  /* The previous chunk; NULL in the first one. */
    _Atomic int64_t used; /* Number of events requested from this chunk; may exceed the chunk's size. */
    struct event event[PER_CHUNK];
};

struct mpi_events {
    _Atomic(struct chunk *) newest;
    _Atomic int64_t kept, left_out;
};

struct row {
    int64_t rank;
    double start, end;
    int64_t bytes, peer;
    int32_t thread;
    char function[48];
};

static const struct column COLUMNS[] = {
    COLUMN(rank, "<i8", "rank", "the rank that called"),
    COLUMN(thread, "<i4", "thread", "number of the thread, as in `regions`"),
    TEXT(function, "S48", "name of the function", TEXT_WORD),
    COLUMN(start, "<f8", "s", "time when the call began, from the start of the job"),
    COLUMN(end, "<f8", "s", "time when the call returned, from the start of the job"),
    COLUMN(bytes, "<i8", "B",
           "bytes that the call sent, or received if it sent none, counted as in `mpi_calls`"),
    COLUMN(peer, "<i8", "rank",
           "the rank of MPI_COMM_WORLD at the other end of the call's last message; -1: a collective call, "
           "or one without a message"),
};

static int64_t most; /* Largest number of events that are kept. */

static void start(void)
{
    most = 0;
    if (!settings_number(iolens.settings.timeline, 0, INT64_MAX, &most))
        iolens_say("IOLENS_TIMELINE=%s is not a number of samples and calls, so no times are recorded for a "
                   "time line",
                   iolens.settings.timeline);
}

bool mpi_events_wanted(void) { return most > 0; }

/* Adds a chunk behind the `full` one and returns it. If two threads add a chunk at once, one chunk stays
 * unused. */
static struct chunk *add_chunk(struct mpi_events *events, struct chunk *full)
{
    struct chunk *fresh = arena_alloc(&iolens.arena, sizeof *fresh);
    if (!fresh)
        return NULL;
    fresh->older = full;
    return atomic_compare_exchange_strong(&events->newest, &full, fresh) ? fresh : full;
}

static struct event *place(struct mpi_events *events)
{
    if (atomic_fetch_add(&events->kept, 1) >= most)
        return NULL;
    struct chunk *chunk = events->newest;
    while (chunk || (chunk = add_chunk(events, NULL))) {
        int64_t at = atomic_fetch_add(&chunk->used, 1);
        if (at < PER_CHUNK)
            return &chunk->event[at];
        chunk = add_chunk(events, chunk);
        if (!chunk)
            break;
    }
    return NULL;
}

void mpi_event_keep(const struct iolens_mpi_call *call, int64_t bytes, int peer)
{
    struct mpi_events *events = table_state(TABLE_mpi_events);
    struct event *event = events ? place(events) : NULL;
    if (event) {
        event->begin = call->t0;
        event->end = call->t1;
        event->bytes = bytes;
        event->peer = peer;
        event->thread = thread_number();
        event->function = (uint32_t)call->function;
        atomic_store_explicit(&event->whole, 1, memory_order_release);
    } else if (events) {
        events->left_out++;
    }
}

static int64_t in_chunk(const struct chunk *chunk)
{
    int64_t used = chunk->used;
    return used < PER_CHUNK ? used : PER_CHUNK;
}

static bool is_sound(const struct event *event)
{
    return event->function < IOLENS_MPI_FUNCTIONS && is_measured_time(event->begin) &&
           is_measured_time(event->end);
}

static bool validate(const void *state, const struct area *area)
{
    const struct chunk *chunk = ((const struct mpi_events *)state)->newest;
    for (int64_t seen = 0; chunk; chunk = chunk->older) {
        if (!area_holds(area, chunk, sizeof *chunk, 1) || chunk->used < 0 ||
            ++seen > ((const struct mpi_events *)state)->kept)
            return false;
        for (int64_t i = 0; i < in_chunk(chunk); i++)
            if (!is_sound(&chunk->event[i]))
                return false;
    }
    return true;
}

static double latest(const void *state)
{
    double end = 0;
    for (const struct chunk *chunk = ((const struct mpi_events *)state)->newest; chunk; chunk = chunk->older)
        for (int64_t i = 0; i < in_chunk(chunk); i++)
            if (chunk->event[i].whole && chunk->event[i].end > end)
                end = chunk->event[i].end;
    return end;
}

/* Appends the event's row. A peer that the job does not have comes from a damaged spool. */
static void put(struct buffer *rows, const struct event *event, const struct iolens_transport *transport)
{
    bool known = event->peer >= 0 && event->peer < transport->size;
    struct row row = {.rank = transport->rank,
                      .start = timeline_at(&iolens.timeline, event->begin),
                      .end = timeline_at(&iolens.timeline, event->end),
                      .bytes = event->bytes,
                      .peer = known ? event->peer : IOLENS_NO_PEER,
                      .thread = (int32_t)event->thread};
    strcpy(row.function, mpi_function_name(event->function));
    if (event->whole)
        buffer_put(rows, &row, sizeof row);
}

static void collect(const struct iolens_transport *transport, struct buffer *rows)
{
    const struct mpi_events *events = table_state_known(TABLE_mpi_events);
    const struct chunk *chunk = events ? events->newest : NULL;
    for (; chunk; chunk = chunk->older)
        for (int64_t i = 0; i < in_chunk(chunk); i++)
            put(rows, &chunk->event[i], transport);
}

const struct process_table table_mpi_events = {
    .name = "mpi_events",
    .meaning = "One MPI call with its times, where MPI is traced and IOLENS_TIMELINE is set",
    TABLE_ROWS(COLUMNS),
    .recording.state_bytes = sizeof(struct mpi_events),
    .recording.validate = validate,
    .recording.latest = latest,
    .recording.start = start,
    .merging.on_demand = true,
    .merging.collect = collect,
    .remarks.left_out_text = "On some rank the time line of MPI calls ends before the program does. "
                             "Raise IOLENS_TIMELINE, the number of calls kept.",
    .remarks.left_out_at = offsetof(struct mpi_events, left_out),
};

static const char *const NAMES[] = {
#define NAME(name) "MPI_" #name,
#include "../../mpi_call_names.def"
#undef NAME
};

const char *mpi_function_name(uint32_t function) { return NAMES[function]; }
