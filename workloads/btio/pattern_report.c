#include <stdlib.h>

#include "pattern.h"

static double bytes_moved(const Pattern *pattern)
{
    const int *grid = pattern->domain->grid;
    return (double)POINT_BYTES * grid[0] * grid[1] * grid[2] * pattern->dumps;
}

static void say_count(const char *name, long long value, const char *unit)
{
    printf("%-28s: %9lld%s\n", name, value, unit);
}

static void say_real(const char *name, double value, const char *unit)
{
    printf("%s: %12.2f%s\n", name, value, unit);
}

static long hint_number(const Hints *hints, const char *key)
{
    for (int i = 0; i < hints->count; i++)
        if (strcmp(hints->list[i].key, key) == 0)
            return strtol(hints->list[i].value, NULL, 10);
    return 0;
}

/* Returns the file's striping: that of the file system or, if it reports none, the library's hint. */
static Layout striping(const PatternReport *report)
{
    const Hints *hints = &report->pattern->effective;
    if (report->file.layout.stripe_count > 0)
        return report->file.layout;
    return (Layout){(int)hint_number(hints, "striping_factor"), hint_number(hints, "striping_unit")};
}

/* Prints the lines about one operation. The names are padded as in the original program, whose colons do not
 * all stand in one column. */
void pattern_print(const PatternReport *report, const Operation *operation)
{
    const Pattern *pattern = report->pattern;
    const int *grid = pattern->domain->grid;
    bool writing = operation->writing;
    double mebibytes = bytes_moved(pattern) / 1048576.0;
    Layout layout = striping(report);
    printf("-- BT-IO Benchmark (%s operation only) --\n", writing ? "write" : "read ");
    say_count("Number of MPI processes", pattern->domain->ranks, "");
    say_count("Global array size X", grid[0], "");
    say_count("Global array size Y", grid[1], "");
    say_count("Global array size Z", grid[2], "");
    say_count("Number of I/O iterations", pattern->dumps, "");
    say_real("Total I/O amount            ", mebibytes, " MiB");
    say_real("Total I/O time in sec       ", operation->total.max, "");
    say_real(writing ? "Max file create time in sec " : "Max file open   time in sec ", operation->setup.max,
             "");
    say_real(writing ? "Max write post  time in sec " : "Max read post   time in sec ", operation->post.max,
             "");
    say_real(writing ? "Max write wait  time in sec " : "Max read wait   time in sec ", operation->wait.max,
             "");
    say_real("I/O bandwidth            ", mebibytes / operation->total.max, " MiB/s");
    printf("------------------------------------------\n");
    printf("Using %s method\n", pattern->method->title);
    printf("output file path         : %s\n", report->config->directory);
    printf("file striping count      : %9d\n", layout.stripe_count);
    printf("file striping size       : %9ld bytes\n", layout.stripe_size);
    printf("data calls of each rank  : %9lld\n", operation->calls);
    printf("max data transfer time   : %15.6f sec\n", operation->transfer.max);
    printf("data transfer bandwidth  : %12.2f MiB/s\n", mebibytes / operation->transfer.max);
}

static void write_extra(Json *json, const void *data)
{
    const PatternReport *report = data;
    json_text(json, "pattern", "northwestern");
    json_open(json, "operations", '[');
    for (int i = 0; i < report->count; i++) {
        const Operation *operation = &report->operations[i];
        json_open(json, NULL, '{');
        json_text(json, "operation", operation->writing ? "write" : "read");
        json_real(json, "setup_seconds", operation->setup.max);
        json_real(json, "post_seconds", operation->post.max);
        json_real(json, "wait_seconds", operation->wait.max);
        json_real(json, "transfer_seconds", operation->transfer.max);
        json_close(json, '}');
    }
    json_close(json, ']');
}

void pattern_json(const PatternReport *report, Trouble *trouble)
{
    Phase phases[2];
    double seconds = 0.0;
    int nodes = count_nodes(report->pattern->domain->comm);
    for (int i = 0; i < report->count; i++) {
        const Operation *operation = &report->operations[i];
        phases[i] = (Phase){operation->writing ? "write" : "read", (long long)bytes_moved(report->pattern),
                            operation->calls, operation->total};
        seconds += operation->total.max;
    }
    Result result = {
        .workload = "btio",
        .options = &PATTERN_OPTIONS,
        .config = report->config,
        .ranks = report->pattern->domain->ranks,
        .nodes = nodes,
        .requested = report->config->hints,
        .effective = report->pattern->effective,
        .file_count = 1,
        .files = &report->file,
        .phase_count = report->count,
        .phases = phases,
        .total_seconds = seconds,
        .status = report->status,
        .detail = report->detail,
        .extra = write_extra,
        .extra_data = report,
    };
    if (report->config->json != NULL && report->pattern->domain->rank == 0)
        result_write(&result, report->config->json, trouble);
}
