#include <math.h>
#include <stdlib.h>

#include "json.h"
#include "run.h"
#include "two_phase.h"

static double million_points_bytes(const Config *config)
{
    return 1.0e-6 * POINT_BYTES * config->grid[0] * config->grid[1] * config->grid[2];
}

/* Returns the millions of operations of one step by NPB's operation count. */
static double mop_per_step(const Config *config)
{
    double points = (double)config->grid[0] * config->grid[1] * config->grid[2];
    double mean = (config->grid[0] + config->grid[1] + config->grid[2]) / 3.0;
    return 1.0e-6 * (3478.8 * points - 17655.7 * mean * mean + 28023.7 * mean);
}

Measured report_measure(Run *run)
{
    MPI_Comm comm = run->domain.comm;
    const Config *config = run->config;
    Measured measured = {
        .total = spread_over_ranks(run->total_seconds, comm),
        .io = spread_over_ranks(run->io_seconds, comm),
        .verify = spread_over_ranks(run->verify_seconds, comm),
        .megabytes = million_points_bytes(config) * run->written,
        .dump_seconds = allocate(run->dumps, sizeof(double)),
    };
    MPI_Allreduce(run->dump_seconds, measured.dump_seconds, run->dumps, MPI_DOUBLE, MPI_MAX, comm);
    MPI_Allreduce(&run->write_calls, &measured.write_calls, 1, MPI_LONG_LONG, MPI_MAX, comm);
    MPI_Allreduce(&run->read_calls, &measured.read_calls, 1, MPI_LONG_LONG, MPI_MAX, comm);
    bool solved = !config->io_only && !config->verify_only && measured.total.max > 0.0;
    measured.mops = solved ? mop_per_step(config) * config->steps / measured.total.max : NAN;
    return measured;
}

void report_header(const Run *run)
{
    const Config *config = run->config;
    run_say(run, "\n\n NAS Parallel Benchmarks compatible -- BT Benchmark, iolens %s\n", VERSION);
    if (config->input != NULL)
        run_say(run, " Reading from input file %s", config->input);
    else if (config->input_ignored)
        run_say(run, " Input file inputbt.data is there but was not read: the options name the problem");
    else
        run_say(run, " No input file inputbt.data. Using the options and defaults");
    if (config->collbuf_from_input)
        run_say(run, " collbuf_nodes %12d\n collbuf_size  %12d", config->collbuf[0], config->collbuf[1]);
    run_say(run, " Size: %4dx%4dx%4d  (class %s)", config->grid[0], config->grid[1], config->grid[2],
            config->class_name);
    if (config->io_only)
        run_say(run, " Iterations: %4d    without the solver", config->steps);
    else
        run_say(run, " Iterations: %4d    dt: %11.7f", config->steps, config->dt);
    run_say(run, " Total number of processes: %6d\n", run->domain.ranks);
    if (run_has_io(run))
        run_say(run, " BTIO -- %s write interval: %3d\n", run->store.method->title, config->write_interval);
}

static void say_percentage(const Run *run, const char *name, double seconds, double total)
{
    run_say(run, "   %-24s: %14.2f", name, 100.0 * seconds / total);
}

/* Prints NPB's four lines by NPB's formulas, which use the harmonic mean over the ranks, and then the times
 * that this mean hides. */
void report_statistics(const Run *run, const Measured *measured)
{
    if (run->written == 0)
        return;
    double seconds = measured->io.harmonic_mean, slowest = measured->io.max;
    run_say(run, "\n BTIO -- statistics:");
    run_say(run, "   I/O timing in seconds   : %14.2f", seconds);
    say_percentage(run, "I/O timing percentage", seconds, measured->total.max);
    run_say(run, "   Total data written (MB) : %14.2f", measured->megabytes);
    run_say(run, "   I/O data rate  (MB/sec) : %14.2f", measured->megabytes / seconds);
    run_say(run, "   Slowest rank, I/O (s)   : %14.6f", slowest);
    run_say(run, "   Slowest rank (MB/sec)   : %14.2f", measured->megabytes / slowest);
}

static void say_number(const Run *run, const char *name, double value)
{
    if (is_finite(value))
        run_say(run, " %-16s= %24.2f", name, value);
    else
        run_say(run, " %-16s= %24s", name, "n/a");
}

static void say_text(const Run *run, const char *name, const char *value)
{
    run_say(run, " %-16s= %24s", name, value);
}

static void say_count(const Run *run, const char *name, int value)
{
    run_say(run, " %-16s= %24d", name, value);
}

static const char *const STATUS_PRINTED[] = {"SUCCESSFUL", "UNSUCCESSFUL", "NOT PERFORMED"};

void report_footer(const Run *run, const Measured *measured, const Verdict *verdict)
{
    const Config *config = run->config;
    run_say(run, "\n\n BT Benchmark Completed.");
    say_text(run, "Class", config->class_name);
    run_say(run, " %-16s=           %4dx%4dx%4d", "Size", config->grid[0], config->grid[1], config->grid[2]);
    say_count(run, "Iterations", config->steps);
    say_number(run, "Time in seconds", config->verify_only ? NAN : measured->total.max);
    say_count(run, "Total processes", run->domain.ranks);
    say_count(run, "Active processes", run->domain.ranks);
    say_number(run, "Mop/s total", measured->mops);
    say_number(run, "Mop/s/process", measured->mops / run->domain.ranks);
    say_text(run, "Operation type",
             config->io_only || config->verify_only ? "input/output" : "floating point");
    say_text(run, "Verification", STATUS_PRINTED[verdict->status]);
    say_text(run, "Version", VERSION);
    say_text(run, "Compile date", __DATE__);
    run_say(run, "\n Compile options:\n    MPICC        = %s\n    CFLAGS       = %s\n", COMPILER, CODE_FLAGS);
}

typedef struct Extra {
    const Run *run;
    const Measured *measured;
    const Answer *answer;
} Extra;

static void write_norms(Json *json, const char *key, const double norm[COMPONENTS])
{
    json_open(json, key, '[');
    for (int m = 0; m < COMPONENTS; m++)
        json_real(json, NULL, norm[m]);
    json_close(json, ']');
}

static void write_answer(Json *json, const Answer *answer)
{
    if (!answer->known) {
        json_null(json, "answer");
        return;
    }
    json_open(json, "answer", '{');
    json_real(json, "tolerance", VERIFY_EPSILON);
    json_open(json, "values", '{');
    write_norms(json, "residual norm", answer->residual);
    write_norms(json, "error norm", answer->error);
    json_close(json, '}');
    json_close(json, '}');
}

static void write_extra(Json *json, const void *data)
{
    const Extra *extra = data;
    const Measured *measured = extra->measured;
    bool wrote = extra->run->written > 0;
    json_real(json, "mops_total", measured->mops);
    json_real(json, "mops_per_process", measured->mops / extra->run->domain.ranks);
    json_real(json, "io_percentage", wrote ? 100.0 * measured->io.harmonic_mean / measured->total.max : NAN);
    json_integer(json, "dumps", extra->run->dumps);
    json_real(json, "cached_before_read", extra->run->cached);
    json_open(json, "dump_seconds", '[');
    for (int d = 0; d < extra->run->written; d++)
        json_real(json, NULL, measured->dump_seconds[d]);
    json_close(json, ']');
    write_answer(json, extra->answer);
}

/* Gathers the files of all ranks on rank 0: one shared file, or one for each rank. */
static int gather_files(Run *run, ResultFile **files)
{
    const Domain *domain = &run->domain;
    bool many = run->store.method->own_file;
    int count = run->file.path == NULL ? 0 : many ? domain->ranks : 1;
    char path[PATH_MAX] = "";
    *files = allocate(count, sizeof **files);
    if (count > 0)
        (*files)[0] = run->file;
    if (count <= 1)
        return count;
    snprintf(path, sizeof path, "%s", run->file.path);
    char *paths = allocate(domain->rank == 0 ? domain->ranks : 1, PATH_MAX);
    MPI_Gather(path, PATH_MAX, MPI_CHAR, paths, PATH_MAX, MPI_CHAR, 0, domain->comm);
    MPI_Gather(&run->file, sizeof run->file, MPI_BYTE, *files, sizeof run->file, MPI_BYTE, 0, domain->comm);
    for (int r = 0; r < count && domain->rank == 0; r++)
        (*files)[r].path = paths + (size_t)r * PATH_MAX;
    return count;
}

static const char *const STATUS_WRITTEN[] = {"successful", "unsuccessful", "not performed"};

void report_json(Run *run, const Measured *measured, const Verdict *verdict, Trouble *trouble)
{
    const Config *config = run->config;
    if (config->json == NULL)
        return;
    double bytes = 1.0e6 * million_points_bytes(config);
    Phase phases[2];
    int count = 0;
    if (run->written > 0)
        phases[count++] =
            (Phase){"write", llround(bytes * run->written), measured->write_calls, measured->io};
    if (run->read > 0 && config->read_interval == 0)
        phases[count++] = (Phase){"read", llround(bytes * run->read), measured->read_calls, measured->verify};
    Extra extra = {run, measured, &verdict->answer};
    Result result = {
        .workload = "btio",
        .options = &BTIO_OPTIONS,
        .config = config,
        .ranks = run->domain.ranks,
        .nodes = count_nodes(run->domain.comm),
        .component = config_lustre_like(config) ? TWO_PHASE_COMPONENT : NULL,
        .requested = config->hints,
        .effective = run->store.effective,
        .phase_count = count,
        .phases = phases,
        .total_seconds = config->verify_only ? NAN : measured->total.max,
        .status = STATUS_WRITTEN[verdict->status],
        .detail = verdict->detail[0] != '\0' ? verdict->detail : NULL,
        .extra = write_extra,
        .extra_data = &extra,
    };
    ResultFile *files;
    result.file_count = gather_files(run, &files);
    result.files = files;
    if (run->domain.rank == 0)
        result_write(&result, config->json, trouble);
    free(files);
}
