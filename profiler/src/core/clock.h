/* Seconds since recording started, from the time stamp counter where it is invariant, else from
 * clock_gettime.
 *
 * The counter's frequency is only estimated at the start (a wait of 20 microseconds); clock_correction()
 * compares both clocks over the whole run and returns the factor that all recorded times are multiplied with
 * at the end. */
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
    uint64_t base_ticks;      /* TSC, or nanoseconds of CLOCK_MONOTONIC, at the start */
    double seconds_per_tick;  /* estimated */
    uint64_t base_ns;         /* CLOCK_MONOTONIC at the start */
    struct timespec realtime; /* CLOCK_REALTIME at the start */
};

void clock_start(struct clock *clock);
double clock_correction(const struct clock *clock);
uint64_t clock_monotonic_ns(void);

static inline double clock_now(const struct clock *clock)
{
#if defined(__x86_64__)
    if (__builtin_expect(clock->tsc, 1))
        return (double)(int64_t)(__rdtsc() - clock->base_ticks) * clock->seconds_per_tick;
#endif
    return (double)(int64_t)(clock_monotonic_ns() - clock->base_ticks) * 1e-9;
}

#endif
