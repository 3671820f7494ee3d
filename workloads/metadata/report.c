#include <math.h>

#include "run.h"

void report_header(const Run *run, int nodes)
{
    const Config *config = run->config;
    if (run->items.rank != 0)
        return;
    printf("iolens metadata %s: %d task%s on %d node%s\n", VERSION, run->items.ranks,
           run->items.ranks == 1 ? "" : "s", nodes, nodes == 1 ? "" : "s");
    printf("Path: %s, %s\n", config->directory,
           config->unique ? "a folder for each rank" : "one folder for all");
    printf("%d tasks, %lld files of %lld bytes\n", run->items.ranks,
           (long long)config->items * run->items.ranks, (long long)config->write_bytes);
}

typedef struct Rates {
    double most, least, mean, deviation;
} Rates;

/* Computes the rates over the iterations; the deviation is that of the population. */
static Rates rates_of(const Step *step, int iterations)
{
    Rates rates = {.most = step->timed[0].rate, .least = step->timed[0].rate};
    double sum = 0.0, squares = 0.0;
    for (int i = 0; i < iterations; i++) {
        rates.most = fmax(rates.most, step->timed[i].rate);
        rates.least = fmin(rates.least, step->timed[i].rate);
        sum += step->timed[i].rate;
    }
    rates.mean = sum / iterations;
    for (int i = 0; i < iterations; i++)
        squares += (step->timed[i].rate - rates.mean) * (step->timed[i].rate - rates.mean);
    rates.deviation = sqrt(squares / iterations);
    return rates;
}

void report_table(const Run *run)
{
    if (run->items.rank != 0)
        return;
    printf("\nSUMMARY rate (in ops/sec): (of %d iterations)\n", run->config->iterations);
    printf("   Operation                     Max            Min           Mean        Std Dev\n");
    printf("   ---------                     ---            ---           ----        -------\n");
    for (int p = 0; p < PHASE_COUNT; p++) {
        const Step *step = &run->steps[p];
        if (!step->chosen)
            continue;
        Rates rates = rates_of(step, run->config->iterations);
        printf("   %-22s%15.3f%15.3f%15.3f%15.3f\n", step->title, rates.most, rates.least, rates.mean,
               rates.deviation);
    }
    if (run->config->find)
        printf("Found: %lld of %lld files\n", run->found, run->steps[PHASE_COUNT - 1].timed[0].items);
}

static void write_extra(Json *json, const void *data)
{
    const Run *run = data;
    int last = run->config->iterations - 1;
    json_open(json, "rates", '[');
    for (int p = 0; p < PHASE_COUNT; p++) {
        const Step *step = &run->steps[p];
        if (!step->chosen)
            continue;
        json_open(json, NULL, '{');
        json_text(json, "operation", step->name);
        json_integer(json, "items", step->timed[last].items);
        json_real(json, "seconds", step->timed[last].seconds.max);
        json_real(json, "items_per_second", rates_of(step, run->config->iterations).mean);
        json_close(json, '}');
    }
    json_close(json, ']');
    if (run->config->find)
        json_integer(json, "found", run->found);
    else
        json_null(json, "found");
    json_open(json, "latency", '[');
    for (int p = 0; p < PHASE_COUNT; p++)
        if (run->steps[p].chosen && run->steps[p].timed[last].latency.iterations > 0)
            latency_json(&run->steps[p].timed[last].latency, json);
    json_close(json, ']');
}

void report_json(const Run *run, int nodes, Trouble *trouble)
{
    const Config *config = run->config;
    Phase phases[PHASE_COUNT];
    int count = 0;
    for (int p = 0; p < PHASE_COUNT; p++) {
        const Timed *timed = &run->steps[p].timed[config->iterations - 1];
        if (run->steps[p].chosen)
            phases[count++] =
                (Phase){run->steps[p].name, timed->moved, timed->items / run->items.ranks, timed->seconds};
    }
    bool checked = config->stat || config->read;
    Result result = {
        .workload = "metadata",
        .options = &METADATA_OPTIONS,
        .config = config,
        .ranks = run->items.ranks,
        .nodes = nodes,
        .phase_count = count,
        .phases = phases,
        .total_seconds = run->total_seconds,
        .status = checked ? "successful" : "not performed",
        .detail = checked ? NULL : "nothing was checked: neither sizes (-T) nor contents (-E)",
        .extra = write_extra,
        .extra_data = run,
    };
    if (config->json != NULL && run->items.rank == 0)
        result_write(&result, config->json, trouble);
}
