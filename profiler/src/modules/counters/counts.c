#include "counts.h"

#include <linux/perf_event.h>
#include <stdio.h>
#include <sys/resource.h>

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

static const char ONLY_WITH_HWPC[] =
    "counted only with --hwpc (IOLENS_HWPC), since a node's first counter may take 10 ms to open";

void counter_set_open(struct counter_set *set, const struct event_choice *choice, bool process,
                      struct set_reasons *reasons)
{
    for (size_t i = 0; i < choice->count; i++) {
        uint64_t code;
        int type = event_source(choice->event[i], &code);
        perf_open(&set->counter[i], type, code, process, false, reasons->of[i]);
    }
    for (size_t i = choice->count; i < SET_PLACES; i++)
        set->counter[i].fd = -1;
    if (choice->wanted)
        perf_open(&set->counter[SET_MIGRATIONS], PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_MIGRATIONS, process,
                  true, reasons->of[SET_MIGRATIONS]);
    else
        snprintf(reasons->of[SET_MIGRATIONS], PERF_REASON_BYTES, "%s", ONLY_WITH_HWPC);
}

static void read_one(struct counts *counts, int at, const struct perf_counter *counter)
{
    struct perf_count count;
    if (counter->fd < 0 || !perf_read(counter, &count))
        return;
    counts->value[at] = count.value;
    counts->enabled[at] = (int64_t)count.enabled;
    counts->running[at] = (int64_t)count.running;
}

void counter_set_read(const struct counter_set *set, const struct event_choice *choice, struct counts *counts)
{
    for (size_t i = 0; i < choice->count; i++)
        read_one(counts, SOFT_COUNTERS + (int)i, &set->counter[i]);
    if (choice->wanted)
        read_one(counts, SOFT_CPU_MIGRATIONS, &set->counter[SET_MIGRATIONS]);
}

void counter_set_close(struct counter_set *set)
{
    for (int i = 0; i < SET_PLACES; i++)
        perf_close(&set->counter[i]);
}
