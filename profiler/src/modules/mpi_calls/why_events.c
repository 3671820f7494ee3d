#include "../../callers/call_nodes.h"
#include "../../memory/area.h"
#include "../../runtime/thread_room.h"
#include "../../tables/process_table.h"
#include "../io_watch.h"
#include "../stdio/streams.h"
#include "mpi_calls.h"

enum { PER_CHUNK = 1024, MOST_NAMES = 64, NAME_BYTES = 32, LAST_THREAD = 255 };
enum {
    LINK_FILE = IOLENS_LINKS,
    LINK_FILES,
    LINK_LOCK,
    LINK_CORE,
    LINK_FAULT,
    LINK_SLEEP,
    LINK_REGION,
    KINDS
};

#define MIB (1024 * 1024)

/* Calls of the file system that take less than this, in seconds, are added up until the next event. */
#define SHORTEST_FILE_CALL 20e-6

/* Visits of regions that take less than this, in seconds, are not kept. */
#define SHORTEST_REGION 20e-6

/* For calls of the file system that take less than this, in seconds, the callers are not searched: the search
 * takes some microseconds. */
#define SHORTEST_WITH_CALLERS 1e-3

/* Polls of one function that follow one another after pauses shorter than this, in seconds, are kept as one
 * event. */
#define LONGEST_POLL_PAUSE 50e-6

static const char words[KINDS][12] = {
    [IOLENS_LINK_NONE] = "call",
    [IOLENS_LINK_SEND] = "send",
    [IOLENS_LINK_POST_SEND] = "isend",
    [IOLENS_LINK_RECEIVE] = "recv",
    [IOLENS_LINK_POST_RECEIVE] = "irecv",
    [IOLENS_LINK_COMPLETION] = "done",
    [IOLENS_LINK_COLLECTIVE] = "all",
    [IOLENS_LINK_POST_COLLECTIVE] = "iall",
    [IOLENS_LINK_WINDOW] = "win",
    [IOLENS_LINK_NEIGHBOUR] = "neighbour",
    [LINK_FILE] = "file",
    [LINK_FILES] = "files",
    [LINK_LOCK] = "lock",
    [LINK_CORE] = "core",
    [LINK_FAULT] = "fault",
    [LINK_SLEEP] = "sleep",
    [LINK_REGION] = "region",
};

/* One event takes 32 bytes, so that a record of a long run fits into memory. */
struct event {
    double begin;  /* Begin of the call, in seconds since this process started recording. */
    float seconds; /* Seconds until the call returned; in `files` the sum over several calls. */
    uint16_t function;
    uint8_t kind, thread;
    /* For a completion: number of the event that posted the request. For a file: first half of its id. For a
     * region: its number. */
    uint32_t communicator;
    int32_t peer; /* For a file: second half of its id. */
    /* For a collective call: number of its ranks. In `files` and for polls: number of calls. For `file` and
     * `lock`: the node of the place that called. */
    int32_t tag;
    float bytes;
};

_Static_assert(sizeof(struct event) == 32, "struct event must have 32 bytes");

struct chunk {
    struct chunk *next;
    int64_t used;
    struct event event[PER_CHUNK];
};

struct why_events {
    struct spin lock;
    struct chunk *first, *newest;
    int64_t kept, left_out;
    /* Sum of the short file system calls since the latest event; its tag is 0 if there are none. */
    struct event sum;
    uint64_t sum_file;
    struct gaps gaps;
    int64_t names;
    char name[MOST_NAMES][NAME_BYTES]; /* Names of functions of the file system, by number. */
};

struct row {
    uint64_t file;
    double start, end;
    int64_t request, bytes;
    uint32_t communicator, region;
    int32_t rank, thread, peer, tag, size, node;
    char kind[12], function[NAME_BYTES];
};

static const struct column COLUMNS[] = {
    COLUMN(rank, "<i4", "rank", "the rank that called; its rows are in the order of its events"),
    COLUMN(thread, "<i4", "thread",
           "number of the thread, as in `regions`; 255: any thread whose number is 255 or more"),
    TEXT(
        kind, "S12",
        "send, recv: a message in a blocking call; isend, irecv: a message in a call that only posts it; "
        "done: completion of a posted operation; all: a blocking collective call; iall: a posted one; win: "
        "begin or end of an epoch of one-sided communication, with a row for each partner; call: another "
        "call of MPI; file: a call of the file system; files: several short calls of the file system; "
        "neighbour: a neighbour in the topology of the communicator that the call made; lock: a wait for a "
        "file's lock; core, fault, sleep: time before the next call in which the thread was ready and had no "
        "core, waited for a page of a file, or slept; region: a visit of a region, whose row follows those "
        "of "
        "the calls inside. A call with several messages has several rows of the same "
        "times",
        TEXT_WORD),
    TEXT(function, "S32", "name of the function; in rows of `files`, of the first call", TEXT_WORD),
    COLUMN(start, "<f8", "s", "time when the call began, since the start of the job"),
    COLUMN(end, "<f8", "s",
           "time when the call returned; in a row of `files`, `start` plus the sum of the calls' times"),
    COLUMN(
        communicator, "<u4", "",
        "a number that all ranks give the same communicator or window; 0: none, or one with ranks of another "
        "program"),
    COLUMN(peer, "<i4", "rank",
           "rank of MPI_COMM_WORLD: the other end of a message, or the root of a collective call; -1: none; "
           "-2: any"),
    COLUMN(tag, "<i4", "tag",
           "tag of a message, -2: any; for a lock of a window, 1 if it is exclusive; for a neighbour, 1 if "
           "this rank "
           "receives from it, 0 if it sends to it. A completion with "
           "peer -3 was cancelled"),
    COLUMN(size, "<i4", "ranks",
           "number of ranks in a collective call; in rows of `files`, and of calls such as MPI_Test that "
           "completed nothing, the number of calls that the row sums"),
    COLUMN(request, "<i8", "event",
           "in the row of a posted operation, its number on this rank, from 0 on; in the row of a "
           "completion, the number of the operation that it completes; else -1"),
    COLUMN(bytes, "<i8", "B", "size of the message or transfer, to seven digits"),
    COLUMN(file, "<u8", "record id", "the file, by its id in the name region; 0: none or several"),
    COLUMN(node, "<i4", "node",
           "the place of the call, a row of `call_nodes`, for rows of `file` and `lock` that took 1 ms "
           "or more; -1: not recorded"),
    COLUMN(region, "<u4", "region",
           "number of the visited region, a row of `region_names`; 0 in rows of other kinds"),
};

static int64_t most; /* Largest number of events that are kept. */

/* Pointers to the names of functions, by the function's number. */
static const char *iolens_why_names[MOST_NAMES];

bool why_wanted(void) { return most > 0; }

static bool grow(struct why_events *events)
{
    struct chunk *chunk = arena_alloc(&iolens.arena, sizeof *chunk);
    if (!chunk)
        return false;
    *(events->newest ? &events->newest->next : &events->first) = chunk;
    events->newest = chunk;
    return true;
}

/* Appends an event and returns its number; -1 beyond the limit. The lock must be held. After the first event
 * that does not fit, no further event is kept, so that the record of a rank has no gaps. */
static int64_t append(struct why_events *events, const struct event *event)
{
    bool has_room = events->left_out == 0 && events->kept < most &&
                    ((events->newest && events->newest->used < PER_CHUNK) || grow(events));
    if (!has_room) {
        events->left_out++;
        return -1;
    }
    events->newest->event[events->newest->used] = *event;
    events->newest->used++;
    return events->kept++;
}

static void append_sum(struct why_events *events)
{
    struct event sum = events->sum;
    events->sum.tag = 0;
    if (sum.tag == 0)
        return;
    sum.communicator = (uint32_t)events->sum_file;
    sum.peer = (int32_t)(events->sum_file >> 32);
    append(events, &sum);
}

static uint8_t thread_of_call(void)
{
    uint32_t thread = thread_number();
    return thread < LAST_THREAD ? (uint8_t)thread : LAST_THREAD;
}

/* Returns the number of a function's name, and adds a new name to the list. If the list is full, returns the
 * number of the last name. The lock must be held. */
static uint16_t number_of_name(struct why_events *events, const char *name)
{
    int64_t at = 0;
    while (at < events->names && iolens_why_names[at] != name)
        at++;
    if (at == MOST_NAMES)
        at = MOST_NAMES - 1;
    if (at == events->names) {
        iolens_why_names[at] = name;
        strncpy(events->name[at], name, NAME_BYTES - 1);
        events->names = at + 1;
    }
    return (uint16_t)(IOLENS_MPI_FUNCTIONS + at);
}

/* Returns true for functions that return at once and that programs call in a loop until something has arrived
 * or completed. */
static bool is_poll(enum iolens_mpi_function function)
{
    static const bool polls[IOLENS_MPI_FUNCTIONS] = {
        [IOLENS_MPI_Test] = true,     [IOLENS_MPI_Testall] = true,
        [IOLENS_MPI_Testany] = true,  [IOLENS_MPI_Testsome] = true,
        [IOLENS_MPI_Iprobe] = true,   [IOLENS_MPI_Improbe] = true,
        [IOLENS_MPI_Win_test] = true, [IOLENS_MPI_Request_get_status] = true,
        [IOLENS_MPI_Parrived] = true,
    };
    return polls[function];
}

/* Extends the newest event by a poll that follows it; returns false if the poll needs an event of its own.
 * The lock must be held. */
static bool extend_polls(struct why_events *events, const struct event *poll)
{
    if (events->left_out > 0 || events->sum.tag > 0 || !events->newest)
        return false;
    struct event *newest = &events->newest->event[events->newest->used - 1];
    bool follows = newest->kind == IOLENS_LINK_NONE && newest->function == poll->function &&
                   newest->thread == poll->thread && newest->tag < INT32_MAX &&
                   poll->begin - (newest->begin + (double)newest->seconds) < LONGEST_POLL_PAUSE;
    if (!follows)
        return false;
    newest->seconds = clock_as_float(poll->begin + (double)poll->seconds - newest->begin);
    newest->tag++;
    return true;
}

IOLENS_EXPORT int64_t iolens_mpi_link(const struct iolens_link *link, const struct iolens_mpi_call *call)
{
    struct why_events *events = iolens_active() && !iolens_paused() ? table_state(TABLE_why_events) : NULL;
    if (!events)
        return -1;
    bool collective = link->kind == IOLENS_LINK_COLLECTIVE || link->kind == IOLENS_LINK_POST_COLLECTIVE;
    struct event event = {
        .begin = call->t0,
        .seconds = clock_as_float(call->t1 - call->t0),
        .kind = (uint8_t)link->kind,
        .thread = thread_of_call(),
        .communicator = link->kind == IOLENS_LINK_COMPLETION ? (uint32_t)link->request : link->communicator,
        .peer = link->peer,
        .tag = collective ? link->size : link->tag,
        .bytes = clock_as_float((double)link->bytes),
    };
    bool poll = link->kind == IOLENS_LINK_NONE && !link->name && is_poll(call->function);
    event.tag = poll ? 1 : event.tag;
    if (event.thread == 0)
        gaps_left(&events->gaps, call->t1);
    spin_lock(&events->lock);
    event.function = link->name ? number_of_name(events, link->name) : (uint16_t)call->function;
    int64_t number = -1;
    if (!poll || !extend_polls(events, &event)) {
        append_sum(events);
        number = append(events, &event);
    }
    spin_unlock(&events->lock);
    return number;
}

/* Keeps a span in which the first thread did not compute, unless its length is 0. The lock must be held. */
static void keep_span(struct why_events *events, int kind, const char *name, double begin, double seconds)
{
    if (!(seconds > 0))
        return;
    struct event span = {.begin = begin, .seconds = clock_as_float(seconds), .kind = (uint8_t)kind};
    span.function = number_of_name(events, name);
    append(events, &span);
}

/* Stores how long, and by which causes, the first thread was held up in the gap between its latest call and
 * one that began at `t0`. Each cause becomes a span at the end of the gap. The lock must be held. */
static void keep_gap(struct why_events *events, double t0, double now)
{
    struct held held = gaps_look(&events->gaps, t0, now);
    if (held.core > 0 || held.fault > 0 || held.sleep > 0)
        append_sum(events);
    keep_span(events, LINK_SLEEP, "asleep", t0 - held.core - held.sleep, held.sleep);
    keep_span(events, LINK_FAULT, "page faults", t0 - held.core - held.fault, held.fault);
    keep_span(events, LINK_CORE, "waiting for a core", t0 - held.core, held.core);
}

IOLENS_EXPORT double iolens_mpi_enter(double t0)
{
    bool first = thread_number() == 0 && iolens_active() && !iolens_paused();
    struct why_events *events = first ? table_state(TABLE_why_events) : NULL;
    if (!events)
        return t0;
    events->gaps.entered = t0;
    if (!gaps_due(&events->gaps, t0))
        return t0;
    spin_lock(&events->lock);
    keep_gap(events, t0, t0);
    spin_unlock(&events->lock);
    return clock_now(&iolens.clock);
}

void why_region_left(uint32_t region, double begin, double end)
{
    struct why_events *events =
        most > 0 && thread_number() == 0 && !iolens_paused() ? table_state(TABLE_why_events) : NULL;
    if (!events || end - begin < SHORTEST_REGION)
        return;
    struct event event = {
        .begin = begin, .seconds = clock_as_float(end - begin), .kind = LINK_REGION, .communicator = region};
    spin_lock(&events->lock);
    append_sum(events);
    event.function = number_of_name(events, "region");
    append(events, &event);
    spin_unlock(&events->lock);
}

static void add_to_sum(struct why_events *events, const struct event *event, uint64_t file)
{
    struct event *sum = &events->sum;
    if (sum->tag > 0 && sum->thread != event->thread)
        append_sum(events);
    if (sum->tag == 0) {
        *sum = *event;
        sum->kind = LINK_FILES;
        sum->tag = 1;
        events->sum_file = file;
        return;
    }
    sum->seconds += event->seconds;
    sum->bytes += event->bytes;
    sum->tag++;
    if (events->sum_file != file)
        events->sum_file = 0;
}

/* Keeps a call of the file system: by itself if it was long, else in the sum of short calls. A call on a
 * terminal or a pipe is left out, because faster storage would not shorten it. */
static void keep_file_call(const struct call *c, const char *module, uint64_t file, int64_t bytes)
{
    struct why_events *events = table_state(TABLE_why_events);
    if (!events || !c->function || iolens_paused() || streams_is_no_file(file))
        return;
    struct event event = {.begin = c->t0,
                          .seconds = clock_as_float(c->t1 - c->t0),
                          .kind = strcmp(module, "LOCKS") == 0 ? LINK_LOCK : LINK_FILE,
                          .thread = thread_of_call(),
                          .communicator = (uint32_t)file,
                          .peer = (int32_t)(file >> 32),
                          .tag = (int32_t)CALL_NODE_NONE,
                          .bytes = clock_as_float((double)bytes)};
    if (event.seconds >= SHORTEST_WITH_CALLERS)
        event.tag = (int32_t)chain_node((uintptr_t)c->caller, CHAIN_MOST);
    spin_lock(&events->lock);
    if (event.thread == 0)
        keep_gap(events, c->t0, c->t1);
    event.function = number_of_name(events, c->function);
    if (event.seconds < SHORTEST_FILE_CALL) {
        add_to_sum(events, &event, file);
    } else {
        append_sum(events);
        append(events, &event);
    }
    spin_unlock(&events->lock);
}

static void start(void)
{
    int64_t asked = 0;
    if (!settings_number(iolens.settings.why, 0, INT64_MAX / MIB, &asked))
        iolens_say("IOLENS_WHY=%s is not a number of MiB; no events are kept", iolens.settings.why);
    most = asked * (int64_t)(MIB / sizeof(struct event));
    io_watch(IO_WATCHER_WHY, most > 0 ? keep_file_call : NULL);
    if (most > 0)
        chains_start();
}

static void end(void)
{
    struct why_events *events = table_state_known(TABLE_why_events);
    if (!events)
        return;
    spin_lock(&events->lock);
    append_sum(events);
    spin_unlock(&events->lock);
}

static bool is_sound(const struct event *event, int64_t names)
{
    return event->kind < KINDS && is_measured_time(event->begin) && is_measured_time(event->seconds) &&
           event->function < IOLENS_MPI_FUNCTIONS + names;
}

/* Returns true if all events in the spool are sound. Each chunk must lie after the previous one in memory, so
 * that a damaged list cannot be endless. */
static bool validate(const void *state, const struct area *area)
{
    const struct why_events *events = state;
    const struct chunk *before = NULL;
    if (events->names < 0 || events->names > MOST_NAMES)
        return false;
    for (const struct chunk *chunk = events->first; chunk; before = chunk, chunk = chunk->next) {
        if (chunk <= before || !area_holds(area, chunk, sizeof *chunk, 1) || chunk->used < 0 ||
            chunk->used > PER_CHUNK)
            return false;
        for (int64_t i = 0; i < chunk->used; i++)
            if (!is_sound(&chunk->event[i], events->names))
                return false;
    }
    return true;
}

static double latest(const void *state)
{
    double last = 0;
    for (const struct chunk *chunk = ((const struct why_events *)state)->first; chunk; chunk = chunk->next)
        for (int64_t i = 0; i < chunk->used; i++)
            if (chunk->event[i].begin + chunk->event[i].seconds > last)
                last = chunk->event[i].begin + chunk->event[i].seconds;
    return last;
}

static bool is_post(unsigned kind)
{
    return kind == IOLENS_LINK_POST_SEND || kind == IOLENS_LINK_POST_RECEIVE ||
           kind == IOLENS_LINK_POST_COLLECTIVE;
}

static bool is_peer(int32_t peer, int ranks) { return peer >= IOLENS_CANCELLED && peer < ranks; }

/* Fills the columns whose values an event keeps in members that mean something else for each kind of
 * event. A peer that a job of this many ranks does not have comes from a damaged spool. */
static void spread(struct row *row, const struct event *event, int64_t number, int ranks)
{
    bool collective = event->kind == IOLENS_LINK_COLLECTIVE || event->kind == IOLENS_LINK_POST_COLLECTIVE;
    bool mpi = event->kind < LINK_FILE, completion = event->kind == IOLENS_LINK_COMPLETION;
    bool file = event->kind >= LINK_FILE && event->kind <= LINK_LOCK;
    bool has_node = event->kind == LINK_FILE || event->kind == LINK_LOCK;
    row->communicator = !mpi || completion ? 0 : event->communicator;
    row->peer = mpi && is_peer(event->peer, ranks) ? event->peer : IOLENS_NO_PEER;
    row->tag = !mpi || collective || event->kind == IOLENS_LINK_NONE ? -1 : event->tag;
    row->size = event->kind == LINK_FILES || event->kind == IOLENS_LINK_NONE || collective ? event->tag : 0;
    row->request = completion ? (int64_t)event->communicator : is_post(event->kind) ? number : -1;
    row->file = file ? (uint64_t)(uint32_t)event->peer << 32 | event->communicator : 0;
    row->node = has_node ? call_node_written((uint32_t)event->tag) : -1;
    row->region = event->kind == LINK_REGION ? event->communicator : 0;
}

static void put(struct buffer *rows, const struct iolens_transport *transport,
                const struct why_events *events, const struct event *event, int64_t number)
{
    struct row row = {.rank = transport->rank,
                      .thread = event->thread,
                      .start = timeline_at(&iolens.timeline, event->begin),
                      .end = timeline_at(&iolens.timeline, event->begin + (double)event->seconds),
                      .bytes = (int64_t)event->bytes};
    spread(&row, event, number, transport->size);
    memcpy(row.kind, words[event->kind], sizeof row.kind);
    bool numbered = event->function < IOLENS_MPI_FUNCTIONS;
    const char *name =
        numbered ? mpi_function_name(event->function) : events->name[event->function - IOLENS_MPI_FUNCTIONS];
    strncpy(row.function, name, sizeof row.function - 1);
    buffer_put(rows, &row, sizeof row);
}

static void collect(const struct iolens_transport *transport, struct buffer *rows)
{
    const struct why_events *events = table_state_known(TABLE_why_events);
    int64_t number = 0;
    for (const struct chunk *chunk = events ? events->first : NULL; chunk; chunk = chunk->next)
        for (int64_t i = 0; i < chunk->used; i++)
            put(rows, transport, events, &chunk->event[i], number++);
}

const struct process_table table_why_events = {
    .name = "why_events",
    .meaning =
        "A call of MPI or of the file system, with its times and with the data that links it to calls of "
        "other ranks (`iolens run --why`)",
    TABLE_ROWS(COLUMNS),
    .recording.state_bytes = sizeof(struct why_events),
    .recording.validate = validate,
    .recording.latest = latest,
    .recording.start = start,
    .recording.end = end,
    .merging.on_demand = true,
    .merging.collect = collect,
    .remarks.left_out_text = "The record of who waits for whom ends early on some rank. Raise IOLENS_WHY, "
                             "the memory for this record.",
    .remarks.left_out_at = offsetof(struct why_events, left_out),
};
