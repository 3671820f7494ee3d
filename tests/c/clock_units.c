/* Interrupts the clock between reading its two sources, when it starts and when it ends: its time stamps must
 * still agree with the system's clock. */
#define _GNU_SOURCE
#include "../../profiler/src/system/processor.c"
#include "../../profiler/src/system/clock.c"
#include "../../profiler/src/system/system_call.c"
#include "posix_expect.h"

#define INTERRUPTION 50000000 /* Length of an interruption in nanoseconds. */

static bool at_start, interrupted;

static int64_t system_ns(void)
{
    struct timespec now;
    syscall(SYS_clock_gettime, CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static void pass(int64_t time)
{
    for (int64_t end = system_ns() + time; system_ns() < end;)
        continue;
}

/* Replaces the call that the clock makes. The interruption comes after the first reading of both sources; at
 * the start, this is after the time of day was read. */
int clock_gettime(clockid_t id, struct timespec *now)
{
    int result = (int)syscall(SYS_clock_gettime, id, now);
    if (id == CLOCK_MONOTONIC && interrupted)
        pass(INTERRUPTION);
    interrupted = id == CLOCK_REALTIME && at_start;
    return result;
}

struct stamp {
    int64_t before, after;
    double seconds;
};

static struct stamp stamp_now(const struct clock *clock)
{
    struct stamp s = {.before = system_ns(), .seconds = clock_now(clock)};
    s.after = system_ns();
    return s;
}

/* Returns the nanoseconds between a time stamp and the time at which it was taken. */
static int64_t error_of(struct stamp s, const struct clock *clock, double correction)
{
    int64_t said = (int64_t)clock->base_ns + (int64_t)(s.seconds * correction * 1e9);
    return said < s.before ? s.before - said : said > s.after ? said - s.after : 0;
}

static void stamps_are_true(void)
{
    struct clock clock = {0};
    clock_start(&clock);
    struct stamp first = stamp_now(&clock);
    pass(2 * INTERRUPTION);
    struct stamp last = stamp_now(&clock);
    interrupted = !at_start;
    double correction = clock_end(&clock).correction;
    MUST(error_of(first, &clock, correction) < INTERRUPTION / 2);
    MUST(error_of(last, &clock, correction) < INTERRUPTION / 2);
}

/* Checks that the clock gives correct seconds even if its first reading was interrupted, before the program
 * can know of the interruption. */
static void seconds_are_seconds(void)
{
    struct clock clock = {0};
    interrupted = true;
    clock_start(&clock);
    struct stamp first = stamp_now(&clock);
    pass(2 * INTERRUPTION);
    struct stamp last = stamp_now(&clock);
    double took = last.seconds - first.seconds;
    MUST(took > 0.9e-9 * (double)(last.before - first.after) &&
         took < 1.1e-9 * (double)(last.after - first.before));
}

int main(void)
{
    seconds_are_seconds();
    stamps_are_true();
    at_start = true;
    stamps_are_true();
    return 0;
}
