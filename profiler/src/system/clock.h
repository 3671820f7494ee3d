/* Seconds since recording started, from the time stamp counter where it is invariant, else from
 * clock_gettime.
 *
 * The counter's frequency is only estimated at the start, over the time that the library takes to start, and
 * at least 20 microseconds; clock_end_at() compares both clocks over the whole run and returns the factor
 * that all recorded times are multiplied with at the end. */
#ifndef IOLENS_CLOCK_H
#define IOLENS_CLOCK_H

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

#if defined(__x86_64__)
#include <x86intrin.h>
#endif

struct clock {
    bool tsc;
    bool forbidden; /* True if reading the TSC raises a signal; the C library's clock_gettime would then raise
                       it too. */
    uint64_t base_ticks;     /* Value of the TSC at the start of recording. */
    double seconds_per_tick; /* Estimated length of a TSC tick. */
    /* Value of CLOCK_MONOTONIC at the start of recording, in nanoseconds. */
    uint64_t base_ns;
    /* Factor that turns nanoseconds of CLOCK_MONOTONIC into recorded seconds. After a change from the TSC it
     * continues the scale of the TSC. */
    double seconds_per_ns;
    struct timespec realtime; /* CLOCK_REALTIME at the start. */
};

/* The end of recording: the recorded seconds since the start, and the factor by which all recorded times are
 * multiplied. */
struct clock_end {
    double recorded, correction;
};

/* Chooses the source and reads both clocks, so that a later clock_start need not wait to estimate the
 * frequency. Does nothing in a child of fork. */
void clock_prepare(struct clock *clock);
void clock_start(struct clock *clock);

/* Changes from the TSC to another clock, on the same time scale. */
void clock_forbid_tsc(struct clock *clock);

/* Returns the end of recording for the given values of both clocks: the TSC (or nanoseconds), and
 * CLOCK_MONOTONIC in nanoseconds. */
struct clock_end clock_end_at(const struct clock *clock, uint64_t ticks, uint64_t ns);
struct clock_end clock_end(const struct clock *clock);
int64_t clock_start_ns(const struct clock *clock); /* Returns the time of the start in nanoseconds since
                                                    * 1970. */
uint64_t clock_monotonic_ns(const struct clock *clock);

/* Returns the TSC, or nanoseconds of CLOCK_MONOTONIC. */
static inline uint64_t clock_ticks(const struct clock *clock)
{
#if defined(__x86_64__)
    if (clock->tsc)
        return __rdtsc();
#endif
    return clock_monotonic_ns(clock);
}

static inline double clock_now(const struct clock *clock)
{
#if defined(__x86_64__)
    if (__builtin_expect(clock->tsc, 1))
        return (double)(int64_t)(__rdtsc() - clock->base_ticks) * clock->seconds_per_tick;
#endif
    return (double)(int64_t)(clock_monotonic_ns(clock) - clock->base_ns) * clock->seconds_per_ns;
}

#endif
