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

double clock_correction(const struct clock *clock)
{
    uint64_t elapsed_ns = clock_monotonic_ns() - clock->base_ns;
    if (!clock->tsc || elapsed_ns < SHORTEST_CORRECTION_NS)
        return 1.0;
    return (double)elapsed_ns * 1e-9 / clock_now(clock);
}
