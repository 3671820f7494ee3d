#include "process_counters.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>

#include "../../runtime/context.h"
#include "../../sampling/sampling.h"
#include "../../system/spin.h"
#include "../../tables/process_table.h"

/* Number of times the kernel moved threads of this process to another processor, read without a perf counter.
 * The number is known only while no thread has ended, because the kernel drops an ended thread's number. */

struct migrations {
    int64_t moves;   /* Number of moves of all threads that exist now; -1 if the kernel does not tell it. */
    int64_t threads; /* Number of threads that exist now, minus the number of those that were started through
                        the C library. */
};

enum { PATH_BYTES = 64, SCHED_BYTES = 4096, ENTRIES_BYTES = 4096 };

/* An entry in the format of getdents64(2). */
struct entry {
    uint64_t inode;
    int64_t next;
    uint16_t bytes;
    uint8_t type;
    char name[];
};

/* Reads /proc/PID/sched, which has a line "se.nr_migrations : N" in every kernel with CONFIG_SCHED_DEBUG. */
static int64_t moves_in(const char *path)
{
    char text[SCHED_BYTES];
    const char *line = slurp(path, text, sizeof text) > 0 ? strstr(text, "se.nr_migrations") : NULL;
    const char *value = line ? strchr(line, ':') : NULL;
    return value ? strtoll(value + 1, NULL, 10) : -1;
}

static int64_t moves_of(const char *thread)
{
    char path[PATH_BYTES];
    snprintf(path, sizeof path, "/proc/self/task/%.20s/sched", thread);
    return moves_in(path);
}

/* Uses system calls, because the C library's functions are wrapped and would be recorded as calls of the
 * program. */
static void read_threads(struct migrations *now)
{
    _Alignas(struct entry) char entries[ENTRIES_BYTES];
    int fd = (int)system_call(SYS_openat, AT_FDCWD, "/proc/self/task", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    long got = -1;
    *now = (struct migrations){.moves = fd < 0 ? -1 : 0, .threads = -sampling_started_threads()};
    while (fd >= 0 && (got = system_call(SYS_getdents64, fd, entries, sizeof entries)) > 0)
        for (long at = 0; at < got;) {
            const struct entry *entry = (const struct entry *)(entries + at);
            int64_t moves = entry->name[0] == '.' ? 0 : moves_of(entry->name);
            now->threads += entry->name[0] != '.';
            now->moves = moves < 0 || now->moves < 0 ? -1 : now->moves + moves;
            at += entry->bytes;
        }
    if (fd >= 0)
        system_call(SYS_close, fd);
}

/* Reads how often all threads migrated so far. The list of threads is not read in a process of one thread,
 * because the kernel builds it at each opening, which takes twice as long as reading the numbers of one
 * thread. */
static void migrations_read(struct migrations *now)
{
    if (*spin_single_threaded)
        *now = (struct migrations){moves_in("/proc/self/sched"), 1 - sampling_started_threads()};
    else
        read_threads(now);
}

/* Returns the number of moves between two moments; if unknown, returns -1 and writes the cause to
 * `reason`. */
static int64_t migrations_between(const struct migrations *begin, const struct migrations *end, char *reason,
                                  size_t bytes)
{
    *reason = '\0';
    if (begin->moves < 0 || end->moves < 0)
        snprintf(reason, bytes,
                 "this kernel does not show migrations (/proc/self/sched); --hwpc counts them");
    else if (end->threads < begin->threads || end->moves < begin->moves)
        snprintf(reason, bytes,
                 "threads have ended, and the kernel forgot their migrations; --hwpc counts them");
    return *reason ? -1 : end->moves - begin->moves;
}

static struct {
    bool live;
    pid_t pid;
    atomic_uint epoch;
    bool chosen, off; /* `chosen`: the events have been chosen. `off`: counters are not read at regions. */
    struct event_choice choice;
    struct counter_set set;
    struct set_reasons reasons;
    struct migrations migrations; /* Migrations when recording began. */
    bool was_paused;              /* True if recording was switched off after the start. */
    /* Values when recording began, increased later by the values counted while recording was off. */
    struct counts before;
    struct counts paused; /* Values when recording was switched off. */
} iolens_counters;

unsigned iolens_counters_tracing = IOLENS_TRACE_CALLS;

/* Returns true if the state has already been filled in. Must be called after the events are chosen: from then
 * on, the event `migrations` either is counted or has a reason why it is not. */
static bool is_noted(const struct counters_state *state)
{
    return state->counted || *state->reasons.of[SET_MIGRATIONS];
}

/* Returns the state of the counters in the spool, where `iolens recover` finds it, and fills in at first use
 * which events are counted. */
static struct counters_state *noted_state(void)
{
    struct counters_state *state = table_state(TABLE_counters);
    if (!state || is_noted(state))
        return state;
    for (size_t i = 0; i < iolens_counters.choice.count; i++)
        state->event[i] = iolens_counters.choice.event[i];
    state->reasons = iolens_counters.reasons;
    state->counted = iolens_counters.choice.wanted;
    state->events = iolens_counters.choice.count;
    return state;
}

static void read_soft(struct counts *counts)
{
    counts_read_clock(counts, CLOCK_PROCESS_CPUTIME_ID);
    counts_read_usage(counts, RUSAGE_SELF);
}

static void read_process(struct counts *now)
{
    *now = (struct counts){0};
    read_soft(now);
    counter_set_read(&iolens_counters.set, &iolens_counters.choice, now);
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
    counter_set_open(&iolens_counters.set, &iolens_counters.choice, true, &iolens_counters.reasons);
    iolens_counters.before = (struct counts){0};
    iolens_counters.was_paused = false;
    if (!iolens_counters.choice.wanted)
        migrations_read(&iolens_counters.migrations);
    read_soft(&iolens_counters.before);
    iolens_counters.pid = iolens.pid;
    iolens_counters.epoch++;
    iolens_counters.live = true;
    if (iolens_counters.choice.wanted && noted_state())
        iolens_counters_tracing |= IOLENS_TRACE_COUNTERS;
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
        counts_add_between(&iolens_counters.before, &iolens_counters.paused, &now);
}

bool counters_reset(void)
{
    if (!iolens_counters.live)
        return false;
    counter_set_close(&iolens_counters.set);
    iolens_counters.live = false;
    iolens_counters_tracing = IOLENS_TRACE_CALLS;
    return true;
}

uint32_t counters_epoch(void) { return atomic_load_explicit(&iolens_counters.epoch, memory_order_relaxed); }

const struct event_choice *counters_choice(void) { return &iolens_counters.choice; }

bool counters_matter(void) { return iolens_counters.live && iolens_counters.choice.wanted; }

struct counters_state *counters_of_regions(void)
{
    return iolens_counters.live && !iolens_counters.off ? noted_state() : NULL;
}

/* Returns the values of this process; NULL if it is not counted. */
static struct counters_state *read_run(void)
{
    bool counts_here = iolens_counters.live && iolens_counters.pid == iolens.pid;
    struct counters_state *state = counts_here ? noted_state() : NULL;
    struct counts now;
    if (!state)
        return NULL;
    read_process(&now);
    state->run = (struct counts){0};
    counts_add_between(&state->run, &iolens_counters.before,
                       iolens_paused() ? &iolens_counters.paused : &now);
    return state;
}

/* Reads the counts so far for the spool. Leaves the migrations out, because inspecting each thread for them
 * takes too long to be done ten times a second. */
void counters_read_so_far(void)
{
    struct counters_state *state = read_run();
    if (!state || iolens_counters.choice.wanted)
        return;
    state->run.value[SOFT_CPU_MIGRATIONS] = -1;
    snprintf(state->moved, sizeof state->moved,
             "the log was made before the process ended; --hwpc counts migrations for such logs too");
}

/* Reads the migrations from /proc, without a counter of the kernel. */
static void read_migrations(struct counters_state *state)
{
    struct migrations now = iolens_counters.migrations;
    if (!iolens_counters.was_paused)
        migrations_read(&now);
    state->run.value[SOFT_CPU_MIGRATIONS] =
        migrations_between(&iolens_counters.migrations, &now, state->moved, sizeof state->moved);
    if (iolens_counters.was_paused)
        snprintf(
            state->moved, sizeof state->moved,
            "the program switched recording off for a time; --hwpc counts migrations in such programs too");
    state->run.enabled[SOFT_CPU_MIGRATIONS] = state->run.enabled[SOFT_TASK_CLOCK];
    state->run.running[SOFT_CPU_MIGRATIONS] = state->run.running[SOFT_TASK_CLOCK];
}

void counters_read_run(void)
{
    struct counters_state *state = read_run();
    if (state && !iolens_counters.choice.wanted)
        read_migrations(state);
}
