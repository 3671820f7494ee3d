#include "threads.h"

#include "../runtime/context.h"
#include "../system/float_state.h"
#include "../system/system_call.h"
#include "../unwind/unwind.h"

static const int64_t NS_PER_SECOND = 1000000000;

/* The member sigev_notify_thread_id, for which glibc has no name. */
#define THREAD_ID(event) ((event)._sigev_un._tid)

__attribute__((noinline)) double thread_now(const struct sampling *sampling,
                                            const struct sampled_thread *thread)
{
    struct timespec now = {0, 0};
    if (!sampling->by_processor)
        return clock_now(&iolens.clock);
    system_call(SYS_clock_gettime, usage_clock(thread->kernel_id), &now);
    return (double)now.tv_sec + (double)now.tv_nsec / (double)NS_PER_SECOND;
}

int64_t thread_on_core_ns(void)
{
    struct timespec now = {0, 0};
    system_call(SYS_clock_gettime, CLOCK_THREAD_CPUTIME_ID, &now);
    return now.tv_sec * NS_PER_SECOND + now.tv_nsec;
}

static struct sampled_thread *take_place_of(struct sampling *sampling, int32_t life)
{
    for (int64_t i = 0; i < SAMPLED_THREADS; i++) {
        struct sampled_thread *thread = &sampling->thread[i];
        int32_t expected = life;
        if (thread->life != life || !atomic_compare_exchange_strong(&thread->life, &expected, THREAD_ALIVE))
            continue;
        int64_t used = sampling->threads;
        while (used <= i && !atomic_compare_exchange_weak(&sampling->threads, &used, i + 1))
            continue;
        return thread;
    }
    return NULL;
}

static struct timespec span_of(int64_t ns)
{
    return (struct timespec){ns / NS_PER_SECOND, ns % NS_PER_SECOND};
}

/* Returns the times of a thread's timer. All ranks and threads of a node are interrupted at the same moments.
 * If they were interrupted one after another, threads that wait for each other would all lose the time of
 * every sample. The moments lie between the kernel's ticks, because threads are switched at the ticks. */
static struct itimerspec interval(const struct sampling *sampling)
{
    const double between_ticks = 0.618;
    int64_t ns = (int64_t)((double)NS_PER_SECOND / sampling->hz), since;
    struct timespec now = {0, 0};
    system_call(SYS_clock_gettime, CLOCK_MONOTONIC, &now);
    since = now.tv_sec * NS_PER_SECOND + now.tv_nsec - (int64_t)(between_ticks * (double)ns);
    return (struct itimerspec){span_of(ns), span_of(ns - since % ns)};
}

/* Uses system calls, because before glibc 2.34 these functions are in another library. */
static bool start_timer(const struct sampling *sampling, struct sampled_thread *thread, int number)
{
    clockid_t clock = sampling->by_processor ? CLOCK_THREAD_CPUTIME_ID : CLOCK_MONOTONIC;
    struct sigevent event;
    struct itimerspec times = interval(sampling);
    memset(&event, 0, sizeof event);
    event.sigev_notify = SIGEV_THREAD_ID;
    event.sigev_signo = number;
    event.sigev_value.sival_ptr = thread;
    THREAD_ID(event) = thread->kernel_id;
    return system_call(SYS_timer_create, clock, &event, &thread->timer) == 0 &&
           system_call(SYS_timer_settime, thread->timer, 0, &times, NULL) == 0;
}

struct sampled_thread *thread_begin(struct sampling *sampling, int number)
{
    struct sampled_thread *thread = take_place_of(sampling, THREAD_UNUSED);
    if (!thread)
        thread = take_place_of(sampling, THREAD_ENDED);
    if (!thread)
        return NULL;
    thread->kernel_id = (int32_t)system_call(SYS_gettid);
    thread->stack = unwind_stack();
    unwind_prepare();
    thread->on_core_ns = thread_on_core_ns();
    if (start_timer(sampling, thread, number)) {
        thread->begin = thread->last = thread_now(sampling, thread);
        return thread;
    }
    thread->life = thread->samples > 0 ? THREAD_ENDED : THREAD_UNUSED;
    return NULL;
}

/* Ends the timer of a thread; returns false if it had ended before. A thread and the end of recording may
 * call this at the same time. If no sample of the thread was taken, its place is reused, and only its time is
 * kept. */
bool thread_end(struct sampling *sampling, struct sampled_thread *thread)
{
    int32_t alive = THREAD_ALIVE;
    if (!atomic_compare_exchange_strong(&thread->life, &alive, THREAD_LEAVING))
        return false;
    system_call(SYS_timer_delete, thread->timer);
    struct float_state state = float_hold();
    thread->earlier += thread_now(sampling, thread) - thread->begin;
    float_release(&state);
    thread->begin = thread->last = 0;
    thread->life = thread->samples > 0 ? THREAD_ENDED : THREAD_UNUSED;
    return true;
}

struct sampled_thread *thread_of(struct sampling *sampling, const siginfo_t *info)
{
    struct sampled_thread *thread = info->si_value.sival_ptr;
    uintptr_t first = (uintptr_t)sampling->thread, at = (uintptr_t)thread;
    bool ours = info->si_code == SI_TIMER && at >= first && at < first + sizeof sampling->thread &&
                (at - first) % sizeof *thread == 0;
    return ours ? thread : NULL;
}
