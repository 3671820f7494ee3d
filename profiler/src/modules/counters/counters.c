#include "counters.h"

#include <linux/perf_event.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "../../files/filter.h"
#include "../../memory/area.h"
#include "../../runtime/context.h"
#include "../../runtime/thread_number.h"
#include "../../runtime/thread_slot.h"
#include "../../system/spin.h"
#include "../../tables/keyed.h"
#include "../../tables/process_table.h"
#include "../../tables/table_merge.h"
#include "migrations.h"
#include "perf.h"
#include "../region_names.h"

static const char *const SOFT_NAME[] = {
#define SOFT(identifier, name) name,
#include "counters_soft.def"
#undef SOFT
};

enum { KIB = 1024, MOST_ROWS = 16384 };

struct key {
    uint32_t thread, region;
};

struct counted {
    struct counts begin, sum;
};

extern const struct process_table table_counters;

static const struct keyed_shape SHAPE = {
    .key_bytes = sizeof(struct key), .value_bytes = sizeof(struct counted), .most = MOST_ROWS};

struct state {
    uint64_t events; /* of the processor, by the rows of `event` */
    uint32_t event[EVENTS_MOST];
    char reason[EVENTS_MOST + 1][PERF_REASON_BYTES]; /* why not; the last one: of migrations */
    uint64_t counted;                                /* migrations have a counter of their own */
    char moved[PERF_REASON_BYTES];                   /* why the run's migrations are not known without one */
    struct counts run;
    struct keyed regions;
};

static struct {
    bool live;
    pid_t pid;
    atomic_uint epoch;
    bool chosen, off; /* off: not for regions */
    struct event_choice choice;
    struct perf_counter counter[EVENTS_MOST + 1]; /* of the process; the last one: migrations */
    char reason[EVENTS_MOST + 1][PERF_REASON_BYTES];
    struct migrations migrations; /* when recording began */
    bool was_paused;              /* after that */
    struct counts before;         /* recording began; later by what came while it was switched off */
    struct counts paused;         /* it was switched off */
} iolens_counters;

unsigned iolens_counters_tracing = IOLENS_TRACE_CALLS;

/* Counters of a thread that enters regions or traced functions. */
struct thread_counters {
    struct thread_counters *next; /* of those whose threads have ended */
    struct perf_counter counter[EVENTS_MOST + 1];
};

static __thread struct thread_counters *of_thread;

static struct {
    pthread_once_t once;
    pthread_key_t key;
    struct spin lock;
    struct thread_counters *free;
} iolens_thread_counters = {.once = PTHREAD_ONCE_INIT};

static int64_t ns_of(clockid_t clock)
{
    struct timespec now = {0, 0};
    syscall(SYS_clock_gettime, clock, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static void read_clock(struct counts *counts, clockid_t clock)
{
    int64_t now = (int64_t)(clock_now(&iolens.clock) * 1e9);
    for (int i = 0; i < SOFT_CPU_MIGRATIONS; i++)
        counts->enabled[i] = counts->running[i] = now;
    counts->value[SOFT_TASK_CLOCK] = ns_of(clock);
}

static void read_usage(struct counts *counts, int who)
{
    struct rusage usage;
    if (getrusage(who, &usage) != 0)
        return;
    counts->value[SOFT_MINOR_FAULTS] = usage.ru_minflt;
    counts->value[SOFT_MAJOR_FAULTS] = usage.ru_majflt;
    counts->value[SOFT_VOLUNTARY_SWITCHES] = usage.ru_nvcsw;
    counts->value[SOFT_INVOLUNTARY_SWITCHES] = usage.ru_nivcsw;
    counts->value[SOFT_PEAK_MEMORY] = (int64_t)usage.ru_maxrss * KIB;
}

static void read_soft(struct counts *counts, int who, clockid_t clock)
{
    read_clock(counts, clock);
    read_usage(counts, who);
}

static void read_one(struct counts *counts, int at, const struct perf_counter *counter)
{
    struct perf_count count;
    if (counter->fd < 0 || !perf_read(counter, &count))
        return;
    counts->value[at] = count.value;
    counts->enabled[at] = (int64_t)count.enabled;
    counts->running[at] = (int64_t)count.running;
}

static void read_hard(struct counts *counts, const struct perf_counter counter[EVENTS_MOST + 1])
{
    for (size_t i = 0; i < iolens_counters.choice.count; i++)
        read_one(counts, SOFT_COUNTERS + (int)i, &counter[i]);
    if (iolens_counters.choice.wanted)
        read_one(counts, SOFT_CPU_MIGRATIONS, &counter[EVENTS_MOST]);
}

/* `sum` grows by what came between two moments. The peak of memory does not grow by differences. */
static void add_between(struct counts *sum, const struct counts *begin, const struct counts *end)
{
    for (int i = 0; i < COUNTERS_MOST; i++) {
        sum->value[i] += end->value[i] - begin->value[i];
        sum->enabled[i] += end->enabled[i] - begin->enabled[i];
        sum->running[i] += end->running[i] - begin->running[i];
    }
    sum->value[SOFT_PEAK_MEMORY] = end->value[SOFT_PEAK_MEMORY];
}

static const char ONLY_WITH_HWPC[] =
    "only with --hwpc (IOLENS_HWPC): a node's first counter may take 10 ms to open";

static void open_all(struct perf_counter counter[EVENTS_MOST + 1], bool process,
                     char reason[EVENTS_MOST + 1][PERF_REASON_BYTES])
{
    for (size_t i = 0; i < iolens_counters.choice.count; i++) {
        uint64_t code;
        int type = event_source(iolens_counters.choice.event[i], &code);
        perf_open(&counter[i], type, code, process, false, reason[i]);
    }
    for (size_t i = iolens_counters.choice.count; i <= EVENTS_MOST; i++)
        counter[i].fd = -1;
    if (iolens_counters.choice.wanted)
        perf_open(&counter[EVENTS_MOST], PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_MIGRATIONS, process, true,
                  reason[EVENTS_MOST]);
    else
        snprintf(reason[EVENTS_MOST], PERF_REASON_BYTES, "%s", ONLY_WITH_HWPC);
}

/* What is counted is noted where a recovery finds it. */
static struct state *noted_state(void)
{
    struct state *state = table_state(TABLE_counters);
    if (!state || state->events > 0)
        return state;
    for (size_t i = 0; i < iolens_counters.choice.count; i++)
        state->event[i] = iolens_counters.choice.event[i];
    memcpy(state->reason, iolens_counters.reason, sizeof state->reason);
    state->counted = iolens_counters.choice.wanted;
    state->events = iolens_counters.choice.count;
    return state;
}

void counters_start(void)
{
    bool list = strcmp(iolens.settings.hwpc, "list") == 0;
    if (list && !iolens_counters.chosen)
        events_print();
    if (!iolens_counters.chosen)
        iolens_counters.choice = events_choose(list ? "" : iolens.settings.hwpc);
    iolens_counters.chosen = true;
    iolens_counters.off = strcmp(iolens.settings.hwpc, "none") == 0;
    open_all(iolens_counters.counter, true, iolens_counters.reason);
    iolens_counters.before = (struct counts){0};
    iolens_counters.was_paused = false;
    if (!iolens_counters.choice.wanted)
        migrations_read(&iolens_counters.migrations);
    read_soft(&iolens_counters.before, RUSAGE_SELF, CLOCK_PROCESS_CPUTIME_ID);
    iolens_counters.pid = iolens.pid;
    iolens_counters.epoch++;
    iolens_counters.live = true;
    if (iolens_counters.choice.wanted && noted_state())
        iolens_counters_tracing |= IOLENS_TRACE_COUNTERS;
}

/* Events were asked for. */
static bool matters(void) { return iolens_counters.live && iolens_counters.choice.wanted; }

static void read_process(struct counts *now)
{
    *now = (struct counts){0};
    read_soft(now, RUSAGE_SELF, CLOCK_PROCESS_CPUTIME_ID);
    read_hard(now, iolens_counters.counter);
}

/* Without a counter of its own. */
static void read_migrations(struct state *state)
{
    struct migrations now = iolens_counters.migrations;
    if (!iolens_counters.was_paused)
        migrations_read(&now);
    state->run.value[SOFT_CPU_MIGRATIONS] =
        migrations_between(&iolens_counters.migrations, &now, state->moved, sizeof state->moved);
    if (iolens_counters.was_paused)
        snprintf(state->moved, sizeof state->moved,
                 "recording was switched off meanwhile; --hwpc counts them");
    state->run.enabled[SOFT_CPU_MIGRATIONS] = state->run.enabled[SOFT_TASK_CLOCK];
    state->run.running[SOFT_CPU_MIGRATIONS] = state->run.running[SOFT_TASK_CLOCK];
}

/* NULL: this process is not counted. */
static struct state *read_run(void)
{
    struct counts now;
    struct state *state = iolens_counters.live && iolens_counters.pid == iolens.pid ? noted_state() : NULL;
    if (!state)
        return NULL;
    read_process(&now);
    state->run = (struct counts){0};
    add_between(&state->run, &iolens_counters.before, iolens_paused() ? &iolens_counters.paused : &now);
    return state;
}

/* A look at each thread is too much to be taken ten times a second. */
static void read_run_so_far(void *memory)
{
    (void)memory;
    struct state *state = read_run();
    if (!state || iolens_counters.choice.wanted)
        return;
    state->run.value[SOFT_CPU_MIGRATIONS] = -1;
    snprintf(state->moved, sizeof state->moved,
             "this log is from before the process's end; --hwpc counts them");
}

void counters_pause(bool on)
{
    struct counts now;
    if (!iolens_counters.live)
        return;
    iolens_counters.epoch++;
    read_process(&now);
    iolens_counters.was_paused = true;
    if (on)
        iolens_counters.paused = now;
    else
        add_between(&iolens_counters.before, &iolens_counters.paused, &now);
}

/* Without this a program that starts a thread after the other would run out of descriptors. */
static void thread_ends(void *memory)
{
    struct thread_counters *ended = memory;
    for (int i = 0; i <= EVENTS_MOST; i++)
        perf_close(&ended->counter[i]);
    of_thread = NULL;
    spin_lock(&iolens_thread_counters.lock);
    ended->next = iolens_thread_counters.free;
    iolens_thread_counters.free = ended;
    spin_unlock(&iolens_thread_counters.lock);
}

static void make_key(void) { pthread_key_create(&iolens_thread_counters.key, thread_ends); }

static struct thread_counters *take_free(void)
{
    spin_lock(&iolens_thread_counters.lock);
    struct thread_counters *taken = iolens_thread_counters.free;
    if (taken)
        iolens_thread_counters.free = taken->next;
    spin_unlock(&iolens_thread_counters.lock);
    return taken;
}

static struct thread_counters *thread_counters(void)
{
    char unused[EVENTS_MOST + 1][PERF_REASON_BYTES];
    if (of_thread || !iolens_counters.choice.wanted)
        return of_thread;
    of_thread = take_free();
    if (!of_thread)
        of_thread = arena_alloc(&iolens.scratch, sizeof *of_thread);
    if (!of_thread)
        return NULL;
    open_all(of_thread->counter, false, unused);
    pthread_once(&iolens_thread_counters.once, make_key);
    pthread_setspecific(iolens_thread_counters.key, of_thread);
    return of_thread;
}

/* The clock last at a begin and first at an end, so that it holds as little as may be of the reading. */
void counters_begin(struct counts *now)
{
    const struct thread_counters *own = thread_counters();
    *now = (struct counts){0};
    if (own)
        read_hard(now, own->counter);
    read_usage(now, RUSAGE_THREAD);
    read_clock(now, CLOCK_THREAD_CPUTIME_ID);
}

void counters_end(struct counts *now)
{
    const struct thread_counters *own = thread_counters();
    *now = (struct counts){0};
    read_clock(now, CLOCK_THREAD_CPUTIME_ID);
    read_usage(now, RUSAGE_THREAD);
    if (own)
        read_hard(now, own->counter);
}

/* Threads that come one after the other share rows, of which there are not enough for a row each; beyond
 * SLOTS_MOST at once each has its own again. */
static uint32_t row_of_thread(void)
{
    uint32_t slot = thread_slot();
    return slot < SLOTS_MOST - 1 ? slot : SLOTS_MOST + thread_number();
}

void *counters_enter(uint32_t region)
{
    struct state *state = iolens_counters.live && !iolens_counters.off ? noted_state() : NULL;
    struct keyed_row *row =
        state ? keyed_find(&state->regions, &SHAPE, &(struct key){row_of_thread(), region}) : NULL;
    struct counted *counted = row ? keyed_value(row, &SHAPE) : NULL;
    if (counted)
        counters_begin(&counted->begin);
    return counted;
}

void counters_leave(void *memory)
{
    struct counted *counted = memory;
    struct counts end;
    if (!counted)
        return;
    counters_end(&end);
    add_between(&counted->sum, &counted->begin, &end);
}

/* The counters of its parent are not those of a child. */
static void reset(void)
{
    if (!iolens_counters.live)
        return;
    for (int i = 0; i <= EVENTS_MOST; i++) {
        perf_close(&iolens_counters.counter[i]);
        if (of_thread)
            perf_close(&of_thread->counter[i]);
    }
    of_thread = NULL;
    iolens_thread_counters.free = NULL;
    iolens_thread_counters.lock = (struct spin){ATOMIC_FLAG_INIT};
    iolens_counters.live = false;
    iolens_counters_tracing = IOLENS_TRACE_CALLS;
}

uint32_t counters_epoch(void) { return atomic_load_explicit(&iolens_counters.epoch, memory_order_relaxed); }

struct row {
    int64_t rank, value;
    double time_enabled, time_running;
    uint32_t region;
    char event[COUNTER_NAME_BYTES], unavailable[PERF_REASON_BYTES];
};

static const struct column COLUMNS[] = {
    MERGED(rank, "<i8", "rank", "the rank; -1: several together", COLUMN_RANK),
    MERGED(region, "<u4", "region",
           "a number of `region_names`, counted in the threads that marked it, inner regions included; "
           "0xffffffff: the whole run, all threads; 0xfffffffe: several regions",
           COLUMN_KEY),
    {"event", "S64", "", "PAPI's or perf's name of what was counted", offsetof(struct row, event),
     COUNTER_NAME_BYTES, COLUMN_KEY, TEXT_WORD},
    MERGED(value, "<i8", "",
           "the count, to be multiplied with time_enabled / time_running where counters took turns; ns of "
           "task-clock, B of peak-memory; -1: none",
           COLUMN_SUM),
    MERGED(time_enabled, "<f8", "s", "time in which it was to be counted", COLUMN_SUM),
    MERGED(time_running, "<f8", "s", "time in which it was", COLUMN_SUM),
    TEXT(unavailable, "S96", "why there is no count; empty: there is one", TEXT_WORD),
};

static const char *name_of(const struct state *state, int at)
{
    return at < SOFT_COUNTERS ? SOFT_NAME[at] : event_name(state->event[at - SOFT_COUNTERS]);
}

static const char *reason_of(const struct state *state, uint32_t region, int at)
{
    if (at == SOFT_CPU_MIGRATIONS)
        return region == REGION_RUN && !state->counted ? state->moved : state->reason[EVENTS_MOST];
    return at < SOFT_COUNTERS ? "" : state->reason[at - SOFT_COUNTERS];
}

int counters_number(void)
{
    const struct state *state = table_state_known(TABLE_counters);
    return state ? SOFT_COUNTERS + (int)state->events : 0;
}

bool counter_is_of_parts(int counter) { return counter != SOFT_PEAK_MEMORY; }

const char *counter_name(int counter) { return name_of(table_state_known(TABLE_counters), counter); }

static const char NEVER_RAN[] = "it never had a counter: too many events at once, or the program closed it";

const char *counter_missing(int counter, int64_t running)
{
    const char *reason = reason_of(table_state_known(TABLE_counters), REGION_NONE, counter);
    return !*reason && running <= 0 ? NEVER_RAN : reason;
}

static void put_one(struct buffer *rows, const struct state *state, int at, const struct counts *counts,
                    struct row row)
{
    row.value = counts->value[at];
    row.time_enabled = 1e-9 * (double)counts->enabled[at];
    row.time_running = 1e-9 * (double)counts->running[at];
    snprintf(row.event, sizeof row.event, "%s", name_of(state, at));
    snprintf(row.unavailable, sizeof row.unavailable, "%s", reason_of(state, row.region, at));
    if (!*row.unavailable && counts->running[at] <= 0)
        snprintf(row.unavailable, sizeof row.unavailable, NEVER_RAN);
    if (*row.unavailable)
        row.value = -1;
    buffer_put(rows, &row, sizeof row);
}

static void put_rows(struct buffer *rows, const struct state *state, const struct counts *counts,
                     struct row row)
{
    int last = counters_number();
    for (int at = 0; at < last; at++)
        if (row.region == REGION_RUN || counter_is_of_parts(at))
            put_one(rows, state, at, counts, row);
}

static void count(int rank)
{
    struct state *state = !iolens.lost && filter_rank(rank) ? read_run() : NULL;
    if (state && !iolens_counters.choice.wanted)
        read_migrations(state);
}

static bool put_regions(struct buffer *rows, const struct state *state, struct row row, bool missing)
{
    struct buffer all = {0};
    for (struct keyed_row *at = keyed_first(&state->regions); at; at = keyed_next(at)) {
        row.region = ((const struct key *)keyed_key(at))->region;
        put_rows(&all, state, &((const struct counted *)keyed_value(at, &SHAPE))->sum, row);
    }
    const struct row *put = (const struct row *)all.data;
    for (size_t i = 0; i < all.used / sizeof *put; i++)
        if ((*put[i].unavailable != '\0') == missing)
            buffer_put(rows, &put[i], sizeof *put);
    bool failed = all.failed;
    buffer_free(&all);
    return !failed;
}

/* A count that is missing in one thread of a region is missing in the sum: of rows that are folded the first
 * gives the reason. */
static void collect(const struct iolens_transport *transport, struct buffer *rows)
{
    struct state *state = table_state_known(TABLE_counters);
    struct row row = {.rank = transport->rank, .region = REGION_RUN};
    if (state) {
        put_rows(rows, state, &state->run, row);
        rows->failed |= !put_regions(rows, state, row, true) || !put_regions(rows, state, row, false);
    }
    table_fold(&table_counters, rows);
    for (size_t i = 0; i < rows->used / sizeof row; i++)
        if (*((struct row *)rows->data)[i].unavailable)
            ((struct row *)rows->data)[i].value = -1;
}

/* Whole runs before regions. */
static int64_t weight(const void *row)
{
    const struct row *counted = row;
    return counted->region == REGION_RUN ? INT64_MAX : counted->value > 0 ? counted->value : 0;
}

size_t counter_place(const char *name)
{
    size_t place = 0;
    while (place < SOFT_COUNTERS && strcmp(name, SOFT_NAME[place]) != 0)
        place++;
    while (place >= SOFT_COUNTERS && place < COUNTER_PLACES - 1 &&
           strcmp(name, event_name((enum counter_event)(place - SOFT_COUNTERS))) != 0)
        place++;
    return place;
}

static size_t rest(void *row)
{
    struct row *merged = row;
    bool run = merged->region == REGION_RUN;
    size_t place = counter_place(merged->event);
    merged->rank = -1;
    merged->region = run ? REGION_RUN : REGION_OTHER;
    return run ? place : COUNTER_PLACES + place;
}

static bool validate(const void *memory, const struct area *area)
{
    struct state *state = (struct state *)memory;
    if (state->events > EVENTS_MOST)
        return false;
    for (size_t i = 0; i < state->events; i++)
        if (state->event[i] >= EVENTS)
            return false;
    for (int i = 0; i <= EVENTS_MOST; i++)
        state->reason[i][PERF_REASON_BYTES - 1] = '\0';
    state->moved[PERF_REASON_BYTES - 1] = '\0';
    keyed_validate(&state->regions, &SHAPE, area, NULL);
    return true;
}

static int64_t most_rows(void)
{
    const struct state *state = table_state_known(TABLE_counters);
    return state ? (SOFT_COUNTERS + (int64_t)state->events) * (1 + keyed_made(&state->regions)) : 0;
}

const struct process_table table_counters = {
    .name = "counters",
    .meaning = "What the kernel and the processor counted, from the begin of recording to the end, or, of a "
               "process that "
               "was killed, to a moment before. With more rows than IOLENS_FILE_RANKS, the least of them are "
               "together",
    TABLE_ROWS(COLUMNS),
    .state_bytes = sizeof(struct state),
    .validate = validate,
    .reset = reset,
    .matters = matters,
    .beat = read_run_so_far,
    .count = count,
    .collect = collect,
    .weight = weight,
    .rest = rest,
    .rest_slots = 2 * COUNTER_PLACES,
    .most_rows = most_rows,
};
