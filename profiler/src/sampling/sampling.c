#include "sampling.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "../callers/chain_table.h"
#include "../runtime/context.h"
#include "../system/float_state.h"
#include "../system/system_call.h"
#include "../tables/process_table.h"
#include "../unwind/unwind.h"
#include "signals.h"
#include "threads.h"

/* A debugger that watches the program. */

/* Returns the name of the program that traces this process (ptrace) and may stop it at each signal, as gdb
 * does, or end it, as ltrace does. NULL if there is none; strace hands every signal on, and does not count.
 */
static const char *debugger_name(void)
{
    static const char FIELD[] = "\nTracerPid:";
    static char name[64];
    char status[4096], path[64];
    const char *tracer = slurp("/proc/self/status", status, sizeof status) ? strstr(status, FIELD) : NULL;
    long process = tracer ? strtol(tracer + sizeof FIELD - 1, NULL, 10) : 0;
    if (process <= 0)
        return NULL;
    snprintf(path, sizeof path, "/proc/%ld/comm", process);
    if (slurp(path, name, sizeof name) == 0)
        return "its name is not known";
    name[strcspn(name, "\n")] = '\0';
    return strcmp(name, "strace") == 0 ? NULL : name;
}

#define LEAST_HZ   0.1
#define LARGEST_HZ 10000.0

static struct {
    int signal; /* Number of the timers' signal; 0 if this process is not sampled. */
    struct sampling *state;
    int64_t times;     /* Largest number of sample times that are kept. */
    pthread_key_t key; /* Key whose destructor is called when a thread ends. */
    /* Function to call when sampling starts; it makes further wrappers hold the signal back. */
    void (*hold)(void);
    /* Name of the debugger because of which no samples are taken; NULL if there is none. */
    const char *debugger;
} iolens_sampling;

static _Atomic int64_t iolens_threads_started;

static __thread struct sampled_thread *own __attribute__((tls_model("initial-exec")));
static __thread bool held_for_fork __attribute__((tls_model("initial-exec")));

/* Returns the number of timer periods that one sample stands for. */
static int64_t periods_of(struct sampled_thread *thread, const siginfo_t *info)
{
    bool elsewhere = thread->mask_changes;
    thread->mask_changes = false;
    return info->si_overrun > 0 && !elsewhere ? 1 + (int64_t)info->si_overrun : 1;
}

static void take(int number, siginfo_t *info, void *context)
{
    (void)number;
    struct float_state state = float_hold();
    sample_take(iolens_sampling.state, own, context, periods_of(own, info));
    float_release(&state);
}

/* Takes a sample at a signal of this thread's timer. A signal that arrives after the end of recording is
 * ignored; a signal that no timer sent goes to the program's handler. */
static void on_signal(int number, siginfo_t *info, void *context)
{
    struct sampling *sampling = iolens_sampling.state;
    struct sampled_thread *thread = thread_of(sampling, info);
    int saved_errno = errno;
    if (!thread)
        signals_forward(number, info, context);
    else if (thread == own && atomic_load(&iolens.wiped.recording))
        signal_stack_call(take, number, info, context);
    signals_interrupt(context);
    ring_waits_continue(context);
    errno = saved_errno;
}

static double rate(const char *text)
{
    char *end;
    errno = 0;
    double hz = strtod(text, &end);
    if (*text == '\0' || strcmp(text, "0") == 0)
        return 0;
    if (errno == 0 && *end == '\0' && hz >= LEAST_HZ && hz <= LARGEST_HZ)
        return hz;
    iolens_say(
        "IOLENS_SAMPLE=%s is not a number of samples per second from %g to %g, so no samples are taken", text,
        LEAST_HZ, LARGEST_HZ);
    return 0;
}

static bool by_processor(const char *timer)
{
    if (strcmp(timer, "wall") != 0 && strcmp(timer, "cpu") != 0)
        iolens_say("IOLENS_SAMPLE_TIMER=%s is neither wall nor cpu, so the default wall is used", timer);
    return strcmp(timer, "cpu") == 0;
}

static void leave(void *thread)
{
    if (thread == own)
        thread_end(iolens_sampling.state, own);
    own = NULL;
    signal_stack_end();
}

/* Reads how many samples are kept with their times. A text that is not a number gives 0, without a message:
 * the code for MPI events, which reads the same setting, prints one. */
static int64_t most_times(const char *text)
{
    int64_t most = 0;
    settings_number(text, 0, INT64_MAX, &most);
    return most;
}

static bool make_times(int64_t most)
{
    struct sample_times *times = most > 0 ? table_state(TABLE_sample_times) : NULL;
    if (times)
        times->most = most;
    return most == 0 || times;
}

/* Allocates all memory in advance, because the signal handler cannot. */
static bool make_states(double hz, bool processor, int64_t times)
{
    struct sampling *state = table_state(TABLE_sampling);
    if (!state || !table_state(TABLE_samples) || !table_state(TABLE_call_nodes) || !make_times(times))
        return false;
    state->hz = hz;
    state->by_processor = processor;
    iolens_sampling.state = state;
    iolens_sampling.times = times;
    return true;
}

void sampling_start(void)
{
    double hz = rate(iolens.settings.sample);
    if (hz == 0)
        return;
    if (has_thread_sanitizer()) {
        iolens_say("the program was built with ThreadSanitizer, under which threads must not be interrupted, "
                   "so no samples are taken");
        return;
    }
    if ((iolens_sampling.debugger = debugger_name()))
        return;
    bool processor = by_processor(iolens.settings.sample_timer);
    if (!make_states(hz, processor, most_times(iolens.settings.timeline)))
        return;
    unwind_start();
    objects_look();
    if (pthread_key_create(&iolens_sampling.key, leave) != 0)
        return;
    iolens_sampling.signal = signals_take(on_signal);
    if (iolens_sampling.signal == 0)
        iolens_say("the program uses all real-time signals, so none is free for the sampling timer and no "
                   "samples are taken");
    else if (iolens_sampling.hold)
        iolens_sampling.hold();
    sampling_enter();
}

void sampling_when_started(void (*hold)(void))
{
    iolens_sampling.hold = hold;
    if (iolens_sampling.signal != 0)
        hold();
}

/* Starts sampling the calling thread. Unblocks the timer's signal, which may have been blocked by the program
 * before an exec, or by the thread that started this thread. */
void sampling_enter(void)
{
    struct sampling *sampling = iolens_sampling.state;
    if (iolens_sampling.signal == 0 || own || !atomic_load(&iolens.wiped.recording))
        return;
    signal_stack_begin();
    struct sampled_thread *thread = thread_begin(sampling, iolens_sampling.signal);
    if (!thread) {
        sampling->refused++;
        signal_stack_end();
        return;
    }
    own = thread;
    pthread_setspecific(iolens_sampling.key, thread);
    signals_let(iolens_sampling.signal);
}

void sampling_leave(void)
{
    if (own)
        thread_end(iolens_sampling.state, own);
    own = NULL;
}

void sampling_thread_started(void) { iolens_threads_started++; }

int64_t sampling_started_threads(void) { return iolens_threads_started; }

void sampling_before_fork(void) { held_for_fork = sampling_hold(NULL); }

void sampling_after_fork(void) { sampling_release(held_for_fork); }

void sampling_start_child(void)
{
    const struct sampling *before = iolens_sampling.state;
    own = NULL;
    if (iolens_sampling.signal == 0)
        return;
    if (!make_states(before->hz, before->by_processor, iolens_sampling.times))
        iolens_sampling.signal = 0;
    sampling_enter();
}

/* Stops sampling all threads. If another thread is in a wait, as helper threads of MPI mostly are, the wait
 * so far is counted. */
void sampling_stop(void)
{
    struct sampling *sampling = iolens_sampling.state;
    if (iolens_sampling.signal == 0)
        return;
    for (int64_t i = 0; i < sampling->threads; i++) {
        struct sampled_thread *thread = &sampling->thread[i];
        if (thread_end(sampling, thread) && thread != own)
            sample_unfinished(sampling, thread);
    }
}

bool sampling_has_samples(void)
{
    const struct sampling *sampling = table_state_known(TABLE_sampling);
    for (int64_t i = 0; sampling && i < sampling->threads; i++)
        if (sampling->thread[i].samples > 0)
            return true;
    return false;
}

const char *sampling_debugger(void) { return iolens_sampling.debugger; }

int sampling_signal(void) { return iolens_sampling.signal; }

bool sampling_here(void) { return own && own->life == THREAD_ALIVE; }

bool sampling_hold(const struct sampled_wait *wait)
{
    if (!sampling_here())
        return false;
    bool held = !signals_block(iolens_sampling.signal);
    if (held && wait)
        own->wait = *wait;
    return held;
}

void sampling_release(bool held)
{
    struct sampled_thread *thread = own;
    if (!held || !thread)
        return;
    thread->wait.frame = 0;
    thread->released = true;
    int saved_errno = errno;
    atomic_signal_fence(memory_order_seq_cst);
    signals_let(iolens_sampling.signal);
    atomic_signal_fence(memory_order_seq_cst);
    thread->released = false;
    errno = saved_errno;
}

void sampling_mask_changes(bool begins)
{
    if (own)
        own->mask_changes = begins;
    atomic_signal_fence(memory_order_seq_cst);
}
