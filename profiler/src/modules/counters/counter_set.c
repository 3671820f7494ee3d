#include "counter_set.h"

#include <linux/perf_event.h>
#include <stdio.h>

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
