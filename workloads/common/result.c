#include "result.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

Spread spread_over_ranks(double seconds, MPI_Comm comm)
{
    double sums[2] = {seconds, seconds > 0.0 ? 1.0 / seconds : 0.0}, total[2];
    Spread spread;
    int ranks;
    MPI_Comm_size(comm, &ranks);
    MPI_Allreduce(&seconds, &spread.min, 1, MPI_DOUBLE, MPI_MIN, comm);
    MPI_Allreduce(&seconds, &spread.max, 1, MPI_DOUBLE, MPI_MAX, comm);
    MPI_Allreduce(sums, total, 2, MPI_DOUBLE, MPI_SUM, comm);
    spread.mean = total[0] / ranks;
    spread.harmonic_mean = total[1] > 0.0 ? ranks / total[1] : 0.0;
    return spread;
}

int count_nodes(MPI_Comm comm)
{
    MPI_Comm node;
    int rank, leaders = 0;
    MPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
    MPI_Comm_rank(node, &rank);
    int leads = rank == 0;
    MPI_Allreduce(&leads, &leaders, 1, MPI_INT, MPI_SUM, comm);
    MPI_Comm_free(&node);
    return leaders;
}

ResultFile result_file(const char *path)
{
    struct stat found;
    char *full = realpath(path, NULL);
    bool there = stat(path, &found) == 0;
    return (ResultFile){
        .path = full != NULL ? full : strdup(path),
        .bytes = there ? (long long)found.st_size : -1,
        .layout = layout_of(path),
    };
}

static void write_files(const Result *result, Json *json)
{
    json_open(json, "files", '[');
    for (int i = 0; i < result->file_count; i++) {
        const ResultFile *file = &result->files[i];
        json_open(json, NULL, '{');
        json_text(json, "path", file->path);
        if (file->bytes >= 0)
            json_integer(json, "bytes", file->bytes);
        else
            json_null(json, "bytes");
        if (file->layout.stripe_count > 0) {
            json_integer(json, "stripe_count", file->layout.stripe_count);
            json_integer(json, "stripe_size", file->layout.stripe_size);
        } else {
            json_null(json, "stripe_count");
            json_null(json, "stripe_size");
        }
        json_close(json, '}');
    }
    json_close(json, ']');
}

static void write_phases(const Result *result, Json *json)
{
    json_open(json, "phases", '[');
    for (int i = 0; i < result->phase_count; i++) {
        const Phase *phase = &result->phases[i];
        json_open(json, NULL, '{');
        json_text(json, "operation", phase->operation);
        json_integer(json, "bytes", phase->bytes);
        json_integer(json, "calls_per_rank", phase->calls_per_rank);
        json_open(json, "seconds", '{');
        json_real(json, "min", phase->seconds.min);
        json_real(json, "mean", phase->seconds.mean);
        json_real(json, "max", phase->seconds.max);
        json_real(json, "harmonic_mean", phase->seconds.harmonic_mean);
        json_close(json, '}');
        json_close(json, '}');
    }
    json_close(json, ']');
}

static void write_all(const Result *result, FILE *out)
{
    Json json = {.out = out};
    char library[MPI_MAX_LIBRARY_VERSION_STRING];
    int length;
    MPI_Get_library_version(library, &length);
    library[strcspn(library, "\n")] = '\0';
    json_open(&json, NULL, '{');
    json_integer(&json, "schema", 1);
    json_text(&json, "workload", result->workload);
    json_text(&json, "version", VERSION);
    json_open(&json, "build", '{');
    json_text(&json, "compiler", COMPILER);
    json_text(&json, "flags", CODE_FLAGS);
    json_close(&json, '}');
    json_open(&json, "parameters", '{');
    options_json(result->options, result->config, &json);
    json_close(&json, '}');
    json_integer(&json, "ranks", result->ranks);
    json_integer(&json, "nodes", result->nodes);
    json_open(&json, "mpi", '{');
    json_text(&json, "library", library);
    json_text(&json, "io_component", result->component != NULL ? result->component : getenv("OMPI_MCA_io"));
    json_close(&json, '}');
    json_open(&json, "hints", '{');
    hints_json(&result->requested, "requested", &json);
    hints_json(&result->effective, "effective", &json);
    json_close(&json, '}');
    write_files(result, &json);
    write_phases(result, &json);
    json_real(&json, "total_seconds", result->total_seconds);
    json_open(&json, "verification", '{');
    json_text(&json, "status", result->status);
    json_text(&json, "detail", result->detail);
    json_close(&json, '}');
    json_open(&json, "extra", '{');
    result->extra(&json, result->extra_data);
    json_close(&json, '}');
    json_close(&json, '}');
    fputc('\n', out);
}

void result_write(const Result *result, const char *path, Trouble *trouble)
{
    if (strcmp(path, "-") == 0) {
        fputs("RESULT-JSON: ", stdout);
        write_all(result, stdout);
        return;
    }
    char aside[PATH_MAX];
    snprintf(aside, sizeof aside, "%s.%ld.part", path, (long)getpid());
    FILE *out = fopen(aside, "w");
    bool good = out != NULL;
    if (good) {
        write_all(result, out);
        good = !ferror(out);
        good = fclose(out) == 0 && good && rename(aside, path) == 0;
    }
    if (!good) {
        trouble_note(trouble, "cannot write the result file %s: %s", path, strerror(errno));
        unlink(aside);
    }
}
