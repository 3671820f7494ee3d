/* Where recording begins and ends: library load, exit, _exit, fork, MPI_Init, MPI_Finalize. */
#include "lifecycle.h"

#include <limits.h>
#include <pthread.h>
#include <stdio.h>

#include "../dispatch/dispatch.h"
#include "../files/fds.h"
#include "../files/filter.h"
#include "../ranks/clocks.h"
#include "../ranks/serial.h"
#include "../runtime/wrap.h"
#include "../sampling/sampling.h"
#include "../system/float_state.h"
#include "../system/signals.h"
#include "../tables/process_table.h"

enum { MIB = 1024 * 1024, SETTINGS_BYTES = 1 * MIB, DEFAULT_MEMORY = 512 };

static int64_t positive(const char *text, int64_t otherwise)
{
    settings_number(text, 1, INT64_MAX, &otherwise);
    return otherwise;
}

/* Makes a path of the settings absolute, because the program may change its current folder before the log is
 * written. */
static void make_absolute(const char **path)
{
    char absolute[PATH_BYTES];
    if (*path && **path != '/' && path_absolute(absolute, AT_FDCWD, *path))
        *path = arena_text(&iolens.scratch, absolute);
}

/* Lets the folder of a run take the place of every other setting of the log's place. Those settings stay in
 * the environment, because a program may start a run of its own, whose logs go where its user wants them. */
static void place_logs_of_run(struct settings *settings)
{
    if (!settings->run_logs || !*settings->run_logs)
        return;
    settings->logpath = settings->run_logs;
    settings->logfile = NULL;
    settings->log_by_date = settings->log_tree = "0";
}

static void start_arenas(void)
{
    size_t limit = (size_t)positive(iolens.settings.memory, DEFAULT_MEMORY) * MIB;
    arena_start(&iolens.arena, limit, spool_extend);
    iolens.scratch.limit = limit;
    iolens.scratch.lock = (struct spin){ATOMIC_FLAG_INIT};
}

/* True if the calling thread was recorded when it forked. Several threads may fork at once, so each has its
 * own value. */
static __thread bool recorded_at_fork __attribute__((tls_model("initial-exec")));

static void before_fork(void)
{
    recorded_at_fork = atomic_load(&iolens.wiped.recording);
    sampling_before_fork();
}

/* Starts recording with empty records and without MPI. Open descriptors and streams stay known. */
static void record_anew(void)
{
    iolens.transport = NULL;
    iolens.offsets = (struct clock_offsets){0};
    recording_reset();
    start_arenas();
    spool_anew();
    clock_start(&iolens.clock);
    atomic_store(&iolens.wiped.recording, true);
}

/* Starts recording in a child of fork. */
static void after_fork(void)
{
    if (!recorded_at_fork)
        return;
    struct float_state state = float_hold();
    iolens_busy = true;
    long_section_forget_others();
    iolens.fork_parent = iolens.pid;
    origin_begin(&iolens.origin);
    iolens.pid = (pid_t)iolens.origin.pid;
    iolens.finalized = (struct finalized){0};
    record_anew();
    sampling_start_child();
    iolens_busy = false;
    float_release(&state);
}

static bool any_pseudo_file_matters(void)
{
    for (int m = 0; m < MODULE_COUNT; m++)
        for (struct file *file = modules[m]->matters ? registry_first(m) : NULL; file;
             file = registry_next(file, m))
            if (modules[m]->matters(file->state[m], file))
                return true;
    return false;
}

static bool log_is_wanted(void)
{
    bool recorded =
        iolens_registry.used > 0 || sampling_has_samples() || tables_matter() || any_pseudo_file_matters();
    bool named = iolens.settings.logfile && iolens.finalized.ranks == 0;
    return settings_true(iolens.settings.nonmpi) && (recorded || named);
}

/* Writes the log and removes the spool. If the log cannot be written, the records stay in the spool. */
static void write_log(const struct iolens_transport *transport)
{
    char log[PATH_BYTES];
    if (finish_log(transport, log))
        spool_remove();
}

/* Lets the tables record what is unfinished in this thread. */
static void end_tables(void)
{
    struct float_state state = float_hold();
    if (iolens_active() && iolens_is_this_process())
        tables_end();
    float_release(&state);
}

/* Ends the recording of a process outside an MPI job. */
static void finish_records(void)
{
    sampling_stop();
    if (!iolens.transport && log_is_wanted())
        write_log(&serial_transport);
    else if (!iolens.transport)
        spool_remove();
    else if (iolens.transport->rank == 0 && iolens_spool.header)
        iolens_say("the program ended before all ranks wrote the log in MPI_Finalize; `iolens recover "
                   "--job %d` makes a log of the records in %s",
                   (int)iolens.pid, iolens_spool.path);
    else if (iolens.transport->rank == 0)
        iolens_say("the program ended before all ranks wrote the log in MPI_Finalize, and without a spool "
                   "its records "
                   "are lost");
}

/* Ends a process outside an MPI job by writing its own log. A job without MPI_Finalize leaves its spools
 * instead. If a signal handler that interrupted the recorder ends the program, the call that was being
 * recorded stays half recorded, as after a jump (jump.c). */
static void finish_alone(void)
{
    iolens_busy = false;
    end_tables();
    if (!atomic_exchange(&iolens.wiped.recording, false) || !iolens_is_this_process())
        return;
    int saved_errno = errno;
    struct float_state state = float_hold();
    iolens_busy = true;
    on_enough_stack(finish_records);
    iolens_busy = false;
    float_release(&state);
    errno = saved_errno;
}

/* Prepares what a process needs to find spools: its number, and absolute paths. */
static void know_places(void)
{
    place_logs_of_run(&iolens.settings);
    make_absolute(&iolens.settings.logpath);
    make_absolute(&iolens.settings.logfile);
    if (*iolens.settings.spool && strcmp(iolens.settings.spool, "none") != 0)
        make_absolute(&iolens.settings.spool);
    origin_begin(&iolens.origin);
    iolens.pid = (pid_t)iolens.origin.pid;
}

static void prepare_recording(void)
{
    clock_prepare(&iolens.clock);
    know_places();
    compiler_read();
    start_arenas();
    iolens.jobid = positive(iolens.settings.jobid, iolens.pid);
    if (positive(iolens.settings.memory, 0) == 0)
        iolens_say("IOLENS_MEMORY=%s is not a positive number of MiB, so the default %d is used",
                   iolens.settings.memory, DEFAULT_MEMORY);
    filter_read(&iolens_filter);
    recording_start();
    spool_start(recording_layout(), tables_beat);
    earlier_settle(replaced_is_worth_a_log);
    fds_start();
    if (settings_true(iolens.settings.dump))
        settings_print(&iolens.settings);
    clock_start(&iolens.clock);
}

static void record(void)
{
    iolens_wipe_in_children();
    pthread_atfork(before_fork, sampling_after_fork, after_fork);
    /* Exit handlers run in the reverse order of their registration, so this one runs last. */
    at_quick_exit(finish_alone);
    iolens.wiped.recording = true;
    iolens_busy = true;
    sampling_start();
    iolens_busy = false;
}

/* Settles the spool of a recorded program that was replaced by this one, which is not recorded: a shell
 * forks, and its child becomes a launcher. */
static void settle_only(void)
{
    know_places();
    iolens_spool.layout = recording_layout();
    earlier_settle(replaced_is_worth_a_log);
}

/* The program's words, which the loader hands to constructors. */
static char **program_words;

/* True if this process is to be recorded. */
static bool is_recorded;

static void prepare(void)
{
    arena_start(&iolens.scratch, SETTINGS_BYTES, NULL);
    say_start();
    command_line_read();
    settings_read(&iolens.settings, &iolens.scratch);
    if (settings_true(iolens.settings.disable))
        return;
    is_recorded = filter_app(program_name()) && !launcher_is(program_words);
    if (is_recorded)
        prepare_recording();
    else
        settle_only();
}

/* Starts recording. A second call does nothing: if an adapter's constructor runs first, it calls this
 * function, too. */
__attribute__((constructor)) static void start(__attribute__((unused)) int count, char **words)
{
    int saved_errno = errno;
    if (iolens.started)
        return;
    struct float_state state = float_hold();
    iolens.started = true;
    program_words = words;
    bool prepared = on_enough_stack(prepare);
    if (prepared && is_recorded)
        record();
    dispatch_start(prepared && settings_true(iolens.settings.mpi));
    float_release(&state);
    errno = saved_errno;
}

void lifecycle_end(const char *why)
{
    sampling_stop();
    if (iolens.transport)
        return;
    iolens.closed = why;
    finish_alone();
}

__attribute__((destructor)) static void stop(void) { finish_alone(); }

/* Wraps _exit and _Exit, which end a process without running destructors. A child of vfork must end without
 * changing its parent's memory. After recording has ended, no further system call is made. */
#define LEAVE(name)                                                                                          \
    IOLENS_EXPORT __attribute__((noreturn)) void name(int status)                                            \
    {                                                                                                        \
        if (atomic_load(&iolens.wiped.recording) && iolens_is_this_process())                                \
            finish_alone();                                                                                  \
        void (*real)(int) = NULL;                                                                            \
        wrap_resolve(#name, &real);                                                                          \
        real(status);                                                                                        \
        __builtin_unreachable();                                                                             \
    }
LEAVE(_exit)
LEAVE(_Exit)

IOLENS_EXPORT int iolens_adapter_attach(int abi)
{
    start(1, (char *[]){program_invocation_name, NULL});
    if (abi != IOLENS_ADAPTER_ABI && iolens.wiped.recording)
        iolens_say("the MPI adapter and libiolens.so are of different versions, so each rank is recorded as "
                   "a program without MPI; preload two libraries of one build");
    return abi == IOLENS_ADAPTER_ABI && iolens.wiped.recording ? 0 : -1;
}

/* Ends the recording of a rank that is excluded from recording, and discards what was recorded before the
 * rank's number was known. */
static void mute(void)
{
    iolens.muted = true;
    atomic_store(&iolens.wiped.recording, false);
    sampling_stop();
    recording_reset();
    spool_forget();
}

/* Begins or ends MPI_Init, during which calls of this thread are not the program's own. MPI_Init counts as
 * one wait, so that sampling signals do not interrupt the threads and processes that it starts. */
IOLENS_EXPORT void iolens_pause(bool on)
{
    static __thread bool held __attribute__((tls_model("initial-exec")));
    struct float_state state = float_hold();
    iolens_busy = on;
    tables_initialize(on);
    float_release(&state);
    if (on)
        held = sampling_hold(NULL);
    else
        sampling_release(held);
}

IOLENS_EXPORT void iolens_parallel_start(const struct iolens_transport *transport)
{
    if (!iolens_active())
        return;
    struct float_state state = float_hold();
    iolens_busy = true;
    iolens.transport = transport;
    reserve_hold(transport->rank, transport->size);
    clocks_start(transport);
    spool_parallel(transport);
    tables_begin();
    if (!filter_rank(transport->rank))
        mute();
    iolens_busy = false;
    float_release(&state);
}

/* True if this rank was recorded until the log of its job was written. */
static bool rest_is_recorded;

IOLENS_EXPORT void iolens_parallel_finish(void)
{
    const struct iolens_transport *transport = iolens.transport;
    if (transport)
        end_tables();
    if (!transport || !iolens_is_this_process() ||
        !(atomic_exchange(&iolens.wiped.recording, false) || iolens.muted))
        return;
    rest_is_recorded = !iolens.muted;
    iolens.muted = false;
    struct float_state state = float_hold();
    iolens_busy = true;
    sampling_stop();
    clocks_end(transport);
    write_log(transport);
    iolens_busy = false;
    float_release(&state);
}

IOLENS_EXPORT void iolens_parallel_rest(void)
{
    if (!rest_is_recorded || !iolens_is_this_process())
        return;
    rest_is_recorded = false;
    struct float_state state = float_hold();
    iolens_busy = true;
    iolens.finalized = (struct finalized){iolens.transport->rank, iolens.transport->size};
    if (iolens_spool.header)
        iolens.jobid = iolens_spool.header->jobid;
    record_anew();
    iolens_busy = false;
    float_release(&state);
}

IOLENS_EXPORT double iolens_now(void) { return clock_now(&iolens.clock); }

IOLENS_EXPORT bool iolens_recording(void) { return iolens_active(); }
