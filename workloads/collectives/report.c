#include <fnmatch.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>

#include "result.h"
#include "run.h"

static const double MICRO = 1e6;

static void say(const Run *run, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void say(const Run *run, const char *format, ...)
{
    va_list arguments;
    if (run->rank != 0)
        return;
    va_start(arguments, format);
    vprintf(format, arguments);
    va_end(arguments);
}

void report_header(const Run *run)
{
    const Crowd *crowd = &run->crowd;
    say(run, "# iolens collectives %s: %d ranks on %d node%s\n", VERSION, run->ranks, crowd->nodes,
        crowd->nodes == 1 ? "" : "s");
    if (crowd->oversubscribed)
        say(run, "# OVERSUBSCRIBED: %d ranks share %d processors, latencies include waiting for one\n",
            crowd->ranks, crowd->processors);
    say(run, "# Components (priority) as the MPI library names them:");
    for (int i = 0; i < run->selection.count; i++)
        say(run, " %s (%d)", run->selection.list[i].name, run->selection.list[i].priority);
    say(run, "%s\n", run->selection.count == 0 ? " n/a, it does not say" : "");
}

static void say_eager(const Run *run)
{
    if (run->eager == EAGER_NONE)
        say(run, "# Sends wait for their receivers at every size\n");
    else if (run->eager == run->config->largest)
        say(run, "# Sends do not wait for their receivers at any size\n");
    else
        say(run, "# Sends do not wait for their receivers up to %lld bytes\n", run->eager);
    for (int i = 0; i < run->variable_count; i++)
        if (fnmatch("*[Ee][Aa][Gg][Ee][Rr]*", run->variables[i].name, 0) == 0)
            say(run, "# %s = %s\n", run->variables[i].name, run->variables[i].value);
}

static void say_columns(const Run *run, const Latency *latency)
{
    bool sized = latency->bytes > 0;
    if (run->eager != 0 && run->count == 1)
        say_eager(run);
    say(run, "\n# iolens MPI %s Latency Test v%s\n", latency->operation, VERSION);
    if (sized)
        say(run, "# Datatype: %s.\n%-10s%18s", run->config->element->title, "# Size", "Avg Latency(us)");
    else
        say(run, "# Avg Latency(us)");
    say(run, "%18s%18s%12s%18s%18s\n", "Min Latency(us)", "Max Latency(us)", "Iterations", "P50 Tail Lat(us)",
        "P99 Tail Lat(us)");
}

void report_latency(const Run *run, const Latency *latency)
{
    if (run->count < 2 || strcmp(run->latencies[run->count - 2].operation, latency->operation) != 0)
        say_columns(run, latency);
    if (latency->bytes > 0)
        say(run, "%-10lld%18.2f", latency->bytes, MICRO * latency->average);
    else
        say(run, "%17.2f", MICRO * latency->average);
    say(run, "%18.2f%18.2f%12d%18.2f%18.2f\n", MICRO * latency->minimum, MICRO * latency->maximum,
        latency->iterations, MICRO * latency->p50, MICRO * latency->p99);
    if (latency->errors > 0)
        say(run, "# WRONG RESULT: %lld elements of %s at %lld bytes\n", latency->errors, latency->operation,
            latency->bytes);
}

void report_footer(const Run *run)
{
    long long errors = run_errors(run);
    if (errors == 0)
        say(run, "\n# Results: all %d checked and right\n", run->count);
    else
        say(run, "\n# Results: WRONG, %lld elements\n", errors);
}

static void write_extra(Json *json, const void *data)
{
    const Run *run = data;
    json_truth(json, "oversubscribed", run->crowd.oversubscribed);
    json_integer(json, "processors", run->crowd.processors);
    json_open(json, "components", '[');
    for (int i = 0; i < run->selection.count; i++) {
        json_open(json, NULL, '{');
        json_text(json, "name", run->selection.list[i].name);
        json_integer(json, "priority", run->selection.list[i].priority);
        json_close(json, '}');
    }
    json_close(json, ']');
    json_text(json, "selected", run->selection.count > 0 ? run->selection.list[0].name : NULL);
    json_open(json, "variables", '{');
    for (int i = 0; i < run->variable_count; i++)
        json_text(json, run->variables[i].name, run->variables[i].value);
    json_close(json, '}');
    if (run->eager > 0 && run->eager < run->config->largest)
        json_integer(json, "eager_observed", run->eager);
    else
        json_null(json, "eager_observed");
    json_open(json, "latency", '[');
    for (int i = 0; i < run->count; i++)
        latency_json(&run->latencies[i], json);
    json_close(json, ']');
}

void report_json(const Run *run, Trouble *trouble)
{
    long long errors = run_errors(run);
    char detail[64];
    snprintf(detail, sizeof detail, "%lld wrong elements", errors);
    Result result = {
        .workload = "collectives",
        .options = &COLLECTIVES_OPTIONS,
        .config = run->config,
        .ranks = run->ranks,
        .nodes = run->crowd.nodes,
        .total_seconds = run->total_seconds,
        .status = errors == 0 ? "successful" : "unsuccessful",
        .detail = errors == 0 ? NULL : detail,
        .extra = write_extra,
        .extra_data = run,
    };
    if (run->config->json != NULL && run->rank == 0)
        result_write(&result, run->config->json, trouble);
}
