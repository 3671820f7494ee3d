#include "counts.h"

#include <sys/resource.h>
#include <unistd.h>

#include "../../runtime/context.h"
#include "../../system/system_call.h"

enum { KIB = 1024 };

static int64_t ns_of(clockid_t clock)
{
    struct timespec now = {0, 0};
    system_call(SYS_clock_gettime, clock, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

void counts_read_clock(struct counts *counts, clockid_t clock)
{
    int64_t now = clock_ns_of(clock_now(&iolens.clock));
    for (int i = 0; i < SOFT_CPU_MIGRATIONS; i++)
        counts->enabled[i] = counts->running[i] = now;
    counts->value[SOFT_TASK_CLOCK] = ns_of(clock);
}

void counts_read_usage(struct counts *counts, int who)
{
    struct rusage usage;
    if (system_call(SYS_getrusage, who, &usage) != 0)
        return;
    counts->value[SOFT_MINOR_FAULTS] = usage.ru_minflt;
    counts->value[SOFT_MAJOR_FAULTS] = usage.ru_majflt;
    counts->value[SOFT_VOLUNTARY_SWITCHES] = usage.ru_nvcsw;
    counts->value[SOFT_INVOLUNTARY_SWITCHES] = usage.ru_nivcsw;
    counts->value[SOFT_PEAK_MEMORY] = (int64_t)usage.ru_maxrss * KIB;
}

void counts_add_between(struct counts *sum, const struct counts *begin, const struct counts *end)
{
    for (int i = 0; i < COUNTERS_MOST; i++) {
        sum->value[i] += end->value[i] - begin->value[i];
        sum->enabled[i] += end->enabled[i] - begin->enabled[i];
        sum->running[i] += end->running[i] - begin->running[i];
    }
    sum->value[SOFT_PEAK_MEMORY] = end->value[SOFT_PEAK_MEMORY];
}
