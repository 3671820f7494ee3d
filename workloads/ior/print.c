#include "print.h"

#include <time.h>

#define MIB 1048576.0

FILE *print_out;

extern const Format FORMAT_TEXT, FORMAT_JSON, FORMAT_CSV;

const Format *format_named(const char *name)
{
    static const Format *const formats[] = {&FORMAT_TEXT, &FORMAT_JSON, &FORMAT_CSV};
    for (int i = 0; i < 3; i++)
        if (strcmp(formats[i]->name, name) == 0)
            return formats[i];
    return &FORMAT_TEXT;
}

const char *print_now(void)
{
    static char text[32];
    time_t now = time(NULL);
    strcpy(text, ctime(&now));
    text[strcspn(text, "\n")] = '\0';
    return text;
}

const char *print_access(const Row *row)
{
    if (row->is_removal)
        return "remove";
    return row->outcome.step == STEP_WRITE ? "write" : "read";
}

/* Writes a size in the largest unit that gives at least one: 1048576 as "1 MiB", 47008 as "45.91 KiB". */
static void size_words(char *text, size_t room, int64_t bytes)
{
    static const char *const units[] = {"TiB", "GiB", "MiB", "KiB"};
    for (int i = 0; i < 4; i++) {
        int64_t unit = (int64_t)1 << (40 - 10 * i);
        if (bytes >= unit) {
            bool whole = bytes % unit == 0;
            snprintf(text, room, whole ? "%.0f %s" : "%.2f %s", (double)bytes / (double)unit, units[i]);
            return;
        }
    }
    snprintf(text, room, "%lld bytes", (long long)bytes);
}

static const char *ordering_between(const Settings *s)
{
    if (s->shift_random > 0)
        return "random task offset";
    return s->shift ? "constant task offset" : "no tasks offsets";
}

int print_facts(const Settings *s, const Team *team, Fact facts[FACTS_MAX])
{
    int n = 0;
    char text[64];
#define FACT(name, ...) (facts[n].key = name, snprintf(facts[n++].value, sizeof facts[0].value, __VA_ARGS__))
    FACT("api", "%s", s->api);
    FACT("apiVersion", "%s", "");
    FACT("test filename", "%s", s->file);
    FACT("access", "%s", s->own_file ? "file-per-process" : "single-shared-file");
    FACT("type", "%s", s->collective ? "collective" : "independent");
    FACT("segments", "%lld", (long long)s->segments);
    FACT("ordering in a file", "%s", s->order_random > 0 ? "random" : "sequential");
    FACT("ordering inter file", "%s", ordering_between(s));
    if (s->shift_random > 0)
        FACT("reorder random seed", "%d", s->seed);
    else if (s->shift)
        FACT("task offset", "%d", s->task_offset);
    FACT("nodes", "%d", team->nodes);
    FACT("tasks", "%d", team->tasks);
    FACT("clients per node", "%d", team->per_node);
    FACT("repetitions", "%d", s->repetitions);
    size_words(text, sizeof text, s->transfer);
    FACT("xfersize", "%s", text);
    size_words(text, sizeof text, s->block);
    FACT("blocksize", "%s", text);
    size_words(text, sizeof text, s->block * s->segments * team->tasks);
    FACT("aggregate filesize", "%s", text);
    if (s->stripe_count > 0)
        FACT("Lustre stripe count", "%d", s->stripe_count);
    if (s->verbosity > 0)
        FACT("verbose", "%d", s->verbosity);
    if (s->deadline > 0)
        FACT("stonewallingTime", "%d", s->deadline);
    if (s->deadline > 0)
        FACT("stoneWallingWearOut", "%d", s->wearout);
#undef FACT
    return n;
}

int print_values(const Test *test, Step step, double *bandwidth, double *seconds)
{
    int n = 0;
    for (int i = 0; i < test->count; i++) {
        const Row *row = &test->rows[i];
        if (row->is_removal || row->outcome.step != step)
            continue;
        bandwidth[n] = row->outcome.bandwidth / MIB;
        seconds[n++] = row->outcome.total;
    }
    return n;
}
