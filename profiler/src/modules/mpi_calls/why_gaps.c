#include <sys/resource.h>

#include "../../runtime/context.h"
#include "../../system/float_state.h"
#include "../../system/system_call.h"
#include "mpi_calls.h"

/* Seconds between readings of the thread's state. A reading takes some microseconds, so one per millisecond
 * costs less than a percent. Shorter gaps are not examined, and the reading before a gap is at most this much
 * older than the gap. */
#define BETWEEN_READINGS 1e-3

/* Times without a core, or with faults, that are shorter than this, in seconds, are not kept. */
#define SHORTEST_HELD 100e-6

bool gaps_due(const struct gaps *gaps, double now) { return now - gaps->read >= BETWEEN_READINGS; }

static void read_now(struct gaps *gaps, double now)
{
    struct rusage usage = {.ru_majflt = 0};
    system_call(SYS_getrusage, RUSAGE_THREAD, &usage);
    gaps->usage = usage_of_thread((int32_t)iolens.pid);
    gaps->major_faults = usage.ru_majflt;
    gaps->read = now;
}

/* Returns the part of `seconds` that fits into the gap; 0 if `seconds` is too short to be kept, or NaN. */
static double part_of(double gap, double seconds)
{
    const double units = 0x1p30; /* Times of events are multiples of such a unit (clock.h). */
    double part = seconds < gap ? seconds : gap;
    return seconds >= SHORTEST_HELD ? (double)(int64_t)(part * units) / units : 0;
}

/* Reads what the thread has used until now, and splits the gap. Not inlined: see float_state.h. */
__attribute__((noinline)) static void split(struct gaps *gaps, double gap, double now, bool inside,
                                            struct held *held)
{
    struct gaps before = *gaps;
    read_now(gaps, now);
    if (before.read == 0 || gap < BETWEEN_READINGS || inside)
        return;
    struct usage used = usage_between(before.usage, gaps->usage);
    held->core = part_of(gap, used.runnable);
    /* The time of the gap in which the thread did not run and did not wait for a core. The thread may have
     * used part of its processor time before the gap, so that this is a lower bound. */
    double blocked = part_of(gap, gap - held->core - used.on_core);
    if (gaps->major_faults > before.major_faults)
        held->fault = blocked;
    else
        held->sleep = blocked;
}

struct held gaps_look(struct gaps *gaps, double t0, double now)
{
    struct held held = {0, 0, 0};
    double gap = t0 - gaps->ended;
    bool inside = now > t0 && gaps->entered > gaps->left;
    if (now > t0)
        gaps->ended = now;
    if (!gaps_due(gaps, now))
        return held;
    struct float_state state = float_hold();
    split(gaps, gap, now, inside, &held);
    float_release(&state);
    return held;
}

void gaps_left(struct gaps *gaps, double end)
{
    gaps->ended = gaps->left = end;
    if (!gaps_due(gaps, end))
        return;
    struct float_state state = float_hold();
    read_now(gaps, end);
    float_release(&state);
}
