#include "clock.h"

#if defined(__x86_64__)
#include <cpuid.h>
#endif

enum { CALIBRATION_NS = 20000, SHORTEST_CORRECTION_NS = 1000000 };

uint64_t clock_monotonic_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

#if defined(__x86_64__)
/* Intel SDM vol. 3, 18.17.1 and AMD APM vol. 3: CPUID.80000007H:EDX[8] = the counter runs at a constant rate.
 */
static bool tsc_is_invariant(void)
{
    unsigned a = 0, b = 0, c = 0, d = 0;
    return __get_cpuid(0x80000007u, &a, &b, &c, &d) && (d & (1u << 8));
}

static double estimate_seconds_per_tick(void)
{
    uint64_t ns0 = clock_monotonic_ns(), ticks0 = __rdtsc(), ns1;
    do {
        ns1 = clock_monotonic_ns();
    } while (ns1 - ns0 < CALIBRATION_NS);
    return (double)(ns1 - ns0) * 1e-9 / (double)(__rdtsc() - ticks0);
}
#endif

void clock_start(struct clock *clock)
{
#if defined(__x86_64__)
    if (clock->seconds_per_tick == 0 && tsc_is_invariant()) {
        clock->seconds_per_tick = estimate_seconds_per_tick();
        clock->tsc = true;
    }
#endif
    clock_gettime(CLOCK_REALTIME, &clock->realtime);
    clock->base_ns = clock_monotonic_ns();
#if defined(__x86_64__)
    clock->base_ticks = clock->tsc ? __rdtsc() : clock->base_ns;
#else
    clock->base_ticks = clock->base_ns;
#endif
}

int64_t clock_start_ns(const struct clock *clock)
{
    return (int64_t)clock->realtime.tv_sec * 1000000000 + clock->realtime.tv_nsec;
}

struct clock_end clock_end_at(const struct clock *clock, uint64_t ticks, uint64_t ns)
{
    double second = clock->tsc ? clock->seconds_per_tick : 1e-9;
    struct clock_end end = {.recorded = (double)(int64_t)(ticks - clock->base_ticks) * second,
                            .correction = 1.0};
    if (clock->tsc && ns - clock->base_ns >= SHORTEST_CORRECTION_NS)
        end.correction = (double)(ns - clock->base_ns) * 1e-9 / end.recorded;
    return end;
}

struct clock_end clock_end(const struct clock *clock)
{
    uint64_t ns = clock_monotonic_ns();
    return clock_end_at(clock, clock_ticks(clock), ns);
}
