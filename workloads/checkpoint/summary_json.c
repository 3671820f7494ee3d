#include <stdlib.h>

#include "run.h"

typedef struct Extra {
    const Run *run;
    const Measured *measured;
} Extra;

static void put_statistic(Json *json, const char *key, Statistic statistic, const double *values, int count)
{
    json_open(json, key, '{');
    json_real(json, "mean", statistic.mean);
    json_real(json, "deviation", statistic.deviation);
    json_open(json, "trials", '[');
    for (int i = 0; i < count; i++)
        json_real(json, NULL, values[i]);
    json_close(json, ']');
    json_close(json, '}');
}

static void put_spread(Json *json, const char *key, Spread spread)
{
    json_open(json, key, '{');
    json_real(json, "min", spread.min);
    json_real(json, "mean", spread.mean);
    json_real(json, "max", spread.max);
    json_close(json, '}');
}

static void put_extra(Json *json, const void *data)
{
    const Extra *extra = data;
    const Measured *measured = extra->measured;
    const Problem *problem = &extra->run->config->problem;
    put_statistic(json, "real_mib_per_second", measured->real_statistic, measured->real, problem->trials);
    put_statistic(json, "file_system_mib_per_second", measured->file_statistic, measured->file,
                  problem->trials);
    put_spread(json, "moving_seconds_per_writer", measured->mpi);
    if (problem->no_io)
        json_null(json, "io_seconds_per_writer");
    else
        put_spread(json, "io_seconds_per_writer", measured->io);
    put_spread(json, "open_seconds", measured->open);
    put_spread(json, "move_seconds", measured->move);
    put_spread(json, "close_seconds", measured->close);
    json_open(json, "shares", '{');
    json_real(json, "open", measured->open.max / measured->total.max);
    json_real(json, "move_between_ranks", measured->mpi.mean / measured->total.max);
    json_real(json, "io", problem->no_io ? 0.0 : measured->io.mean / measured->total.max);
    json_real(json, "close", measured->close.max / measured->total.max);
    json_close(json, '}');
    json_real(json, "cached_before_read", extra->run->cached);
    if (extra->run->checked)
        json_integer(json, "wrong_values", measured->wrong_values);
    else
        json_null(json, "wrong_values");
}

static ResultFile *look_at_files(const Run *run)
{
    const Store *store = &run->store;
    ResultFile *files = allocate((size_t)store->files, sizeof *files);
    for (int at = 0; at < store->files; at++) {
        char path[PATH_MAX];
        store_path(store, at, path);
        files[at] = result_file(path);
    }
    return files;
}

void summary_json(const Run *run, const Measured *measured, double seconds, Trouble *trouble)
{
    const Config *config = run->config;
    const Problem *problem = &config->problem;
    bool reads = run->program->reads;
    char detail[512];
    const char *status = summary_verdict(run, measured, detail, sizeof detail);
    int nodes = count_nodes(run->cube.world);
    if (run->cube.rank != 0 || config->json == NULL)
        return;
    const Phase phase = {
        .operation = problem->no_io ? (reads ? "scatter" : "gather") : (reads ? "read" : "write"),
        .bytes = (long long)run_bytes(run) * problem->trials,
        .calls_per_rank = run->store.calls,
        .seconds = measured->total,
    };
    Extra extra = {run, measured};
    ResultFile *files = look_at_files(run);
    Result result = {
        .workload = run->program->name,
        .options = run->program->options,
        .config = config,
        .ranks = run->cube.ranks,
        .nodes = nodes,
        .requested = config->hints,
        .file_count = problem->no_io ? 0 : run->store.files,
        .phase_count = 1,
        .files = files,
        .phases = &phase,
        .total_seconds = seconds,
        .status = status,
        .detail = detail,
        .extra = put_extra,
        .extra_data = &extra,
    };
    result_write(&result, config->json, trouble);
    for (int at = 0; at < run->store.files; at++)
        free(files[at].path);
    free(files);
}
