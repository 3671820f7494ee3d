/* Seconds since recording started, from the time stamp counter where it is invariant, else from
 * clock_gettime. A time is a whole number of units of 2^-30 s or more, and a unit is a power of two: so times
 * are subtracted and added without rounding for 48 days or more, and no floating-point flag is raised.
 *
 * The counter's frequency is only estimated at the start, over the time that the library takes to start, and
 * at least 20 microseconds; clock_end_at() compares both clocks over the whole run and returns the factor
 * that all recorded times are multiplied with at the end. */
#ifndef IOLENS_CLOCK_H
#define IOLENS_CLOCK_H

#include <float.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <time.h>

#if defined(__x86_64__)
#include <x86intrin.h>
#endif

struct clock {
    bool tsc;
    bool forbidden; /* True if reading the TSC raises a signal; the C library's clock_gettime would then raise
                       it too. */
    uint64_t base_ticks; /* Value of the TSC at the start of recording. */
    /* Value of CLOCK_MONOTONIC at the start of recording, in nanoseconds. */
    uint64_t base_ns;
    /* Estimated length of a TSC tick, and of a nanosecond of CLOCK_MONOTONIC. After a change from the TSC the
     * latter continues the scale of the TSC. */
    struct clock_rate {
        int64_t factor; /* Units in 2^64 ticks. */
        double unit;    /* Seconds; a power of two. */
    } tick, ns;
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

static inline double clock_rated(const struct clock_rate *rate, uint64_t ticks)
{
    return (double)(int64_t)((__int128)(int64_t)ticks * rate->factor >> 64) * rate->unit;
}

static inline double clock_now(const struct clock *clock)
{
#if defined(__x86_64__)
    if (__builtin_expect(clock->tsc, 1))
        return clock_rated(&clock->tick, __rdtsc() - clock->base_ticks);
#endif
    return clock_rated(&clock->ns, clock_monotonic_ns(clock) - clock->base_ns);
}

/* Returns a number as float, rounded towards 0 without raising a flag. */
static inline float clock_as_float(double number)
{
    uint64_t bits;
    memcpy(&bits, &number, sizeof bits);
    bits &= ~((UINT64_C(1) << (DBL_MANT_DIG - FLT_MANT_DIG)) - 1);
    memcpy(&number, &bits, sizeof bits);
    return (float)number;
}

/* Returns the nanoseconds of a difference of two times; exact, as the differences are. */
static inline int64_t clock_ns_of(double seconds)
{
    return (int64_t)((__int128)(int64_t)(seconds * 0x1p30) * 1000000000 >> 30);
}

/* Processor time of the threads of this process, and how long they waited for a core, as the kernel counts
 * both. */

/* Seconds since the thread began. `runnable`: seconds in which the thread was ready to run but had no core;
 * NaN if the kernel does not count them. */
struct usage {
    double on_core, runnable;
};

struct usage usage_of_thread(int32_t kernel_id);

/* Returns what the thread used between two readings. */
struct usage usage_between(struct usage begin, struct usage end);

/* Returns the clock of the thread's processor time, which any thread of the process can read. */
clockid_t usage_clock(int32_t kernel_id);

#endif
