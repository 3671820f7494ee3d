#include "clock.h"

#include <unistd.h>

#if defined(__x86_64__)
#include "processor.h"
#include "system_call.h"
#endif

enum { CALIBRATION_NS = 20000, LOOKS = 5, SHORTEST_CORRECTION_NS = 1000000 };

#define SECONDS_PER_NS 1e-9

enum { FINEST_UNIT = 30 };

/* Returns the rate for a length of ticks in seconds: units of at least two ticks, so that the factor has a
 * sign. */
static struct clock_rate rate_of(double seconds)
{
    double scale = 1 << FINEST_UNIT;
    while (seconds * scale >= 0.5)
        scale /= 2;
    return (struct clock_rate){(int64_t)(seconds * scale * 0x1p64), 1 / scale};
}

static struct timespec read_clock(const struct clock *clock, clockid_t id)
{
    struct timespec now;
    if (clock->forbidden)
        system_call(SYS_clock_gettime, id, &now);
    else
        clock_gettime(id, &now);
    return now;
}

uint64_t clock_monotonic_ns(const struct clock *clock)
{
    struct timespec now = read_clock(clock, CLOCK_MONOTONIC);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* Reads both clocks at nearly the same moment. The shortest of a few attempts counts, because nothing
 * interrupted it. */
static void read_both(const struct clock *clock, uint64_t *ns, uint64_t *ticks)
{
    uint64_t shortest = UINT64_MAX;
    for (int look = 0; look < LOOKS; look++) {
        uint64_t before = clock_ticks(clock), now = clock_monotonic_ns(clock),
                 took = clock_ticks(clock) - before;
        if (took >= shortest)
            continue;
        shortest = took;
        *ns = now;
        *ticks = before + took / 2;
    }
}

#if defined(__x86_64__)
/* Returns true if the processor's counter of time runs at a constant rate: CPUID.80000007H:EDX[8] (Intel SDM
 * vol. 3, 18.17.1; AMD APM vol. 3).
 */
static bool tsc_is_invariant(void) { return leaf_read(LEAF_CLOCK).d & (1u << 8); }

/* Estimates the seconds of a tick of the processor's counter. Both clocks are read at the start (the clock's
 * base) and at the end; an interruption between these does no harm, because both clocks go on. */
static double estimate_seconds_per_tick(const struct clock *clock)
{
    uint64_t ns, ticks;
    do
        read_both(clock, &ns, &ticks);
    while (ns - clock->base_ns < CALIBRATION_NS);
    return (double)(ns - clock->base_ns) * SECONDS_PER_NS / (double)(ticks - clock->base_ticks);
}
#endif

/* Chooses the source of the time and sets the clock's base, once. A child of fork continues with its parent's
 * source. No check is needed that the program may read the counter: the C library's loader has read it
 * before. */
void clock_prepare(struct clock *clock)
{
    if (clock->base_ns > 0)
        return;
#if defined(__x86_64__)
    clock->tsc = tsc_is_invariant();
#endif
    read_both(clock, &clock->base_ns, &clock->base_ticks);
}

void clock_start(struct clock *clock)
{
    clock_prepare(clock);
#if defined(__x86_64__)
    if (clock->tsc && clock->tick.unit == 0)
        clock->tick = rate_of(estimate_seconds_per_tick(clock));
#endif
    clock->ns = rate_of(SECONDS_PER_NS);
    clock->realtime = read_clock(clock, CLOCK_REALTIME);
    read_both(clock, &clock->base_ns, &clock->base_ticks);
}

/* Changes the clock's source to a system call, without a step in its time. A thread that reads the clock at
 * the same time gets its time wholly from the old source or wholly from the new one. */
void clock_forbid_tsc(struct clock *clock)
{
    double recorded = clock_now(clock);
    uint64_t ns = clock_monotonic_ns(clock) - clock->base_ns;
    if (clock->tsc && ns > 0)
        clock->ns = rate_of(recorded / (double)ns);
    clock->forbidden = true;
    clock->tsc = false;
}

int64_t clock_start_ns(const struct clock *clock)
{
    return (int64_t)clock->realtime.tv_sec * 1000000000 + clock->realtime.tv_nsec;
}

struct clock_end clock_end_at(const struct clock *clock, uint64_t ticks, uint64_t ns)
{
    double recorded = clock->tsc ? clock_rated(&clock->tick, ticks - clock->base_ticks)
                                 : clock_rated(&clock->ns, ticks - clock->base_ns);
    struct clock_end end = {.recorded = recorded, .correction = 1.0};
    bool estimated = clock->tsc || clock->forbidden;
    if (estimated && ns - clock->base_ns >= SHORTEST_CORRECTION_NS)
        end.correction = (double)(ns - clock->base_ns) * SECONDS_PER_NS / recorded;
    return end;
}

struct clock_end clock_end(const struct clock *clock)
{
    uint64_t ns, ticks;
    read_both(clock, &ns, &ticks);
    return clock_end_at(clock, ticks, ns);
}
