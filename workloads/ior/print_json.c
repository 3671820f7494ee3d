/* IOR's JSON: everything at the end, as one object. */
#include <stdlib.h>
#include <sys/utsname.h>

#include "print.h"

#define MIB 1048576.0

static struct {
    char command[8192], began[32];
} run;

static void begin(int argc, char **argv, const Settings *settings)
{
    size_t used = 0;
    (void)settings;
    for (int i = 0; i < argc && used < sizeof run.command; i++)
        used +=
            (size_t)snprintf(run.command + used, sizeof run.command - used, i > 0 ? " %s" : "%s", argv[i]);
    snprintf(run.began, sizeof run.began, "%s", print_now());
}

static void test_begin(const Settings *settings, const Team *team, int number)
{
    (void)settings, (void)team, (void)number;
}

static void row(const Test *test, const Row *row) { (void)test, (void)row; }

static void test_end(const Test *test) { (void)test; }

static void write_results(Json *json, const Test *test)
{
    json_open(json, "Results", '[');
    for (int i = 0; i < test->count; i++) {
        const Outcome *o = &test->rows[i].outcome;
        if (test->rows[i].is_removal)
            continue;
        json_open(json, NULL, '{');
        json_text(json, "access", print_access(&test->rows[i]));
        json_real(json, "bwMiB", o->bandwidth / MIB);
        json_real(json, "blockKiB", (double)test->settings->block / 1024.0);
        json_real(json, "xferKiB", (double)test->settings->transfer / 1024.0);
        json_real(json, "iops", o->per_second);
        json_real(json, "latency", o->latency);
        json_real(json, "openTime", o->open);
        json_real(json, "wrRdTime", o->move);
        json_real(json, "closeTime", o->close);
        json_real(json, "totalTime", o->total);
        json_integer(json, "iter", o->repetition);
        json_close(json, '}');
    }
    json_close(json, ']');
}

static void write_test(Json *json, const Test *test)
{
    Fact facts[FACTS_MAX];
    int count = print_facts(test->settings, &test->team, facts);
    json_open(json, NULL, '{');
    json_integer(json, "TestID", test->number);
    json_text(json, "StartTime", run.began);
    json_text(json, "Path", test->settings->file);
    json_open(json, "Parameters", '{');
    json_integer(json, "testID", test->number);
    options_json(&IOR_OPTIONS, test->settings, json);
    json_integer(json, "nodes", test->team.nodes);
    json_integer(json, "tasksPerNode", test->team.per_node);
    json_close(json, '}');
    json_open(json, "Options", '{');
    for (int i = 0; i < count; i++)
        json_text(json, facts[i].key, facts[i].value);
    json_close(json, '}');
    write_results(json, test);
    json_close(json, '}');
}

static void write_summary(Json *json, const Test *test, Step step, const char *name)
{
    const Settings *s = test->settings;
    double *bandwidth = allocate((size_t)test->count + 1, sizeof *bandwidth);
    double *seconds = allocate((size_t)test->count + 1, sizeof *seconds);
    int n = print_values(test, step, bandwidth, seconds);
    if (n > 0) {
        Typical t = typical_of(bandwidth, n), time = typical_of(seconds, n);
        double ops = MIB / (double)s->transfer;
        json_open(json, NULL, '{');
        json_text(json, "operation", name);
        json_text(json, "API", s->api);
        json_integer(json, "TestID", test->number);
        json_integer(json, "ReferenceNumber", s->reference);
        json_integer(json, "segmentCount", s->segments);
        json_integer(json, "blockSize", s->block);
        json_integer(json, "transferSize", s->transfer);
        json_integer(json, "numTasks", test->team.tasks);
        json_integer(json, "tasksPerNode", test->team.per_node);
        json_integer(json, "repetitions", s->repetitions);
        json_integer(json, "filePerProc", s->own_file);
        json_integer(json, "reorderTasks", s->shift);
        json_integer(json, "taskPerNodeOffset", s->task_offset);
        json_integer(json, "reorderTasksRandom", s->shift_random);
        json_integer(json, "reorderTasksRandomSeed", s->seed);
        json_real(json, "bwMaxMIB", t.most);
        json_real(json, "bwMinMIB", t.least);
        json_real(json, "bwMeanMIB", t.mean);
        json_real(json, "bwStdMIB", t.deviation);
        json_real(json, "bwMedianMIB", t.median);
        json_real(json, "bwMedianLowMIB", t.low);
        json_real(json, "bwMedianHighMIB", t.high);
        json_real(json, "OPsMax", t.most * ops);
        json_real(json, "OPsMin", t.least * ops);
        json_real(json, "OPsMean", t.mean * ops);
        json_real(json, "OPsSD", t.deviation * ops);
        json_real(json, "MeanTime", time.mean);
        json_real(json, "xsizeMiB", (double)(s->block * s->segments * test->team.tasks) / MIB);
        json_close(json, '}');
    }
    free(bandwidth);
    free(seconds);
}

static void end(const Test *tests, int count)
{
    struct utsname machine;
    char name[256];
    Json json = {.out = print_out};
    uname(&machine);
    snprintf(name, sizeof name, "%s %s", machine.sysname, machine.nodename);
    json_open(&json, NULL, '{');
    json_text(&json, "Version", VERSION " (iolens)");
    json_text(&json, "Began", run.began);
    json_text(&json, "Command line", run.command);
    json_text(&json, "Machine", name);
    json_open(&json, "tests", '[');
    for (int i = 0; i < count; i++)
        write_test(&json, &tests[i]);
    json_close(&json, ']');
    json_open(&json, "summary", '[');
    for (int i = 0; i < count; i++) {
        write_summary(&json, &tests[i], STEP_WRITE, "write");
        write_summary(&json, &tests[i], STEP_READ, "read");
    }
    json_close(&json, ']');
    json_text(&json, "Finished", print_now());
    json_close(&json, '}');
    fputc('\n', print_out);
}

const Format FORMAT_JSON = {"JSON", begin, test_begin, row, test_end, end};
