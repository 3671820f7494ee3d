#include "kernel_report.h"

#include "finite.h"
#include "result.h"

#include <math.h>
#include <stdio.h>

/* The three times of a try that are reported: for gathering, for writing, and for both together. */
typedef enum { GATHER, WRITE, BOTH } Which;

static double time_of(const KernelTimes *times, Which which)
{
    return (which != WRITE ? times->gather : 0.0) + (which != GATHER ? times->write : 0.0);
}

static double sum_of(const Kernel *kernel, const KernelTimes *times, Which which)
{
    double sum = 0.0;
    for (int at = 0; at < kernel->config->problem.trials; at++)
        sum += time_of(&times[at], which);
    return sum;
}

/* Returns the sample standard deviation divided by the mean; NAN for a single try. */
static double relative_deviation(const Kernel *kernel, const KernelTimes *times, Which which)
{
    int tries = kernel->config->problem.trials;
    double mean = sum_of(kernel, times, which) / tries, squares = 0.0;
    for (int at = 0; at < tries; at++)
        squares += (time_of(&times[at], which) - mean) * (time_of(&times[at], which) - mean);
    return tries > 1 ? sqrt(squares / (tries - 1)) / mean : NAN;
}

void kernel_report_header(const Kernel *kernel)
{
    if (kernel->rank != 0)
        return;
    if (!kernel->mode->gathers) {
        printf(" Tested with file type: %s\n", kernel->config->file_type);
        printf("        NX,    # levs, # writers,     write (GB),    packet (GB),       Time (s), Eff. BW "
               "(GB/s),"
               " Avg. BW (GB/s), Rel. Std. Dev.\n");
    } else if (!kernel->mode->writes) {
        printf("    NX,# levs,# writ,group ,       Time (s), Rel. Std. dev.,    BW (GB/sec)\n");
    } else {
        printf(
            "    NX,# levs,# writ,group ,       Time (s),     G Time (s),     W Time (s),    BW (GB/sec)\n");
    }
}

/* Prints in Fortran's format F15.4; a value that was not measured is n/a. */
static void print_real(double value, const char *end)
{
    if (is_finite(value))
        printf("%15.4f%s", value, end);
    else
        printf("%15s%s", "n/a", end);
}

void kernel_report_row(const Kernel *kernel, const KernelTimes *times)
{
    const Problem *problem = &kernel->config->problem;
    int tries = problem->trials, writers = problem->io_ranks;
    double packet = 1e-9 * (double)kernel->packet_cells * sizeof(float), total = packet * writers;
    if (kernel->rank != 0)
        return;
    if (!kernel->mode->gathers) {
        double time = sum_of(kernel, times, WRITE) / tries;
        printf(" %9d, %9d, %9d,", problem->nx, problem->lm, writers);
        print_real(total, ",");
        print_real(packet, ",");
        print_real(time, ",");
        print_real(total / time, ",");
        print_real(total / time / writers, ",");
        print_real(relative_deviation(kernel, times, WRITE), "\n");
        return;
    }
    double gather = sum_of(kernel, times, GATHER) / tries, write = sum_of(kernel, times, WRITE) / tries;
    double volume = 4e-9 * problem->nx * problem->nx * 6.0 * problem->lm;
    printf("%6d,%6d,%6d,%6d,", problem->nx, problem->lm, writers, kernel->ranks / writers);
    print_real(gather + write, ",");
    if (kernel->mode->writes) {
        print_real(gather, ",");
        print_real(write, ",");
    } else {
        print_real(relative_deviation(kernel, times, GATHER), ",");
    }
    print_real(volume / (gather + write), "\n");
}

static void put_extra(Json *json, const void *data)
{
    const double *deviation = data;
    json_real(json, "relative_deviation", *deviation);
}

void kernel_report_json(const Kernel *kernel, const Program *program, const KernelTimes *times,
                        Trouble *trouble)
{
    const Config *config = kernel->config;
    const KernelMode *mode = kernel->mode;
    int tries = config->problem.trials, nodes = count_nodes(kernel->world), count = 0;
    Spread gather = spread_over_ranks(sum_of(kernel, times, GATHER), kernel->world), write = {0};
    if (kernel->writes)
        write = spread_over_ranks(sum_of(kernel, times, WRITE), kernel->writers);
    if (kernel->rank != 0 || config->json == NULL)
        return;
    long long cell = sizeof(float), gathered = kernel->own_cells * cell * kernel->ranks;
    Phase phases[2];
    if (mode->gathers)
        phases[count++] = (Phase){"gather", gathered * tries, tries, gather};
    if (mode->writes)
        phases[count++] =
            (Phase){"write", kernel->packet_cells * cell * config->problem.io_ranks * tries, tries, write};
    double deviation = relative_deviation(kernel, times, BOTH);
    Result result = {
        .workload = program->name,
        .options = program->options,
        .config = config,
        .ranks = kernel->ranks,
        .nodes = nodes,
        .requested = config->hints,
        .phase_count = count,
        .phases = phases,
        .total_seconds = sum_of(kernel, times, BOTH),
        .status = !mode->gathers             ? "not performed"
                  : kernel->wrong_values > 0 ? "unsuccessful"
                                             : "successful",
        .detail = mode->gathers ? "what the writers received" : "the files are removed within the clock",
        .extra = put_extra,
        .extra_data = &deviation,
    };
    result_write(&result, config->json, trouble);
}
