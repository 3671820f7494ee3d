#include "fortran.h"
#include "run.h"

static char letter(bool truth) { return truth ? 'T' : 'F'; }

const char *summary_verdict(const Run *run, const Measured *measured, char *detail, size_t size)
{
    Trouble place = {0};
    const Wrong *wrong = &run->wrong;
    if (wrong->count > 0)
        trouble_note(&place, "VAR%03d(level %d, lat %d, lon %d) is %.9g, not %.9g", wrong->array,
                     wrong->level, wrong->latitude, wrong->longitude, (double)wrong->found,
                     (double)wrong->expected);
    if (trouble_shared(&place, run->cube.world)) {
        snprintf(detail, size, "%lld wrong values; the first: %.200s%s", measured->wrong_values, place.text,
                 run->config->problem.static_data ? " (static data needs the NX and NY it was written with)"
                                                  : "");
        return "unsuccessful";
    }
    if (run->checked) {
        snprintf(detail, size, "every value that was read is the one that was written");
        return "successful";
    }
    snprintf(detail, size, "%s",
             run->config->problem.no_io ? "no data went through files"
                                        : "restart_simulator, or --check, reads the data back");
    return "not performed";
}

static void print_parameters(const Run *run)
{
    const Problem *problem = &run->config->problem;
    bool reads = run->program->reads;
    char text[16];
    printf("Num %s:  %s\n", reads ? "readers" : "writers", fortran_integer(problem->io_ranks, 3, text));
    printf("Total cores:  %s\n", fortran_integer(run->cube.ranks, 6, text));
    printf("%s:  %s", reads ? "Cube size/LM" : "Cube size", fortran_integer(problem->im_world, 6, text));
    printf("%s\n", fortran_integer(problem->lm, 6, text));
    printf("Split file, %s, %sextra, netcdf output, write barrier, do writes:  %c%c",
           reads ? "3D_scatter" : "3D_gather", reads ? "" : "chunk, ", letter(problem->split),
           letter(problem->whole));
    if (!reads)
        putchar(letter(!problem->no_chunking));
    printf("%c%c%c%c\n", letter(problem->extra_info), letter(!problem->binary), letter(problem->barrier),
           letter(!problem->no_io));
    printf("Number of trial:  %s\n", fortran_integer(problem->trials, 6, text));
}

static void print_original(const Run *run, const Measured *measured, double seconds)
{
    char text[G16_8_SIZE];
    printf(" ***************************************************\n Summary of run: \n");
    printf("Total data volume in megabytes: %s\n", fortran_g16_8(measured->megabytes, text));
    print_parameters(run);
    printf("Application  time: %s\n", fortran_g16_8(seconds, text));
    printf("Real throughput MB/s, Std Real throughput MB/s, file system MB/S, std file system MB/s\n");
    const double numbers[] = {measured->real_statistic.mean, measured->real_statistic.deviation,
                              measured->file_statistic.mean, measured->file_statistic.deviation};
    for (int i = 0; i < 4; i++)
        printf("%s", fortran_g16_8(numbers[i], text));
    putchar('\n');
}

static void print_spread(const char *name, Spread spread)
{
    printf("  %-22s %12.6f %12.6f %12.6f\n", name, spread.min, spread.mean, spread.max);
}

static void print_share(const char *name, double seconds, double total)
{
    printf("  %-22s %12.1f %%\n", name, 100.0 * seconds / total);
}

/* Prints the times of the steps, and each time as a share of the slowest rank's total. For writes, reads and
 * messages it is the share of their mean time. */
static void print_beside(const Run *run, const Measured *measured)
{
    bool reads = run->program->reads, calls = !run->config->problem.no_io;
    double rest = measured->move.max - measured->mpi.mean - (calls ? measured->io.mean : 0.0);
    printf("\nSeconds over all trials               min         mean          max\n");
    if (calls)
        print_spread(reads ? "reading, per reader" : "writing, per writer", measured->io);
    print_spread(reads ? "scattering, per reader" : "gathering, per writer", measured->mpi);
    printf("Shares of %.6f s\n", measured->total.max);
    print_share(reads ? "open" : "create", measured->open.max, measured->total.max);
    print_share(reads ? "scatter" : "gather", measured->mpi.mean, measured->total.max);
    if (calls)
        print_share(reads ? "read" : "write", measured->io.mean, measured->total.max);
    print_share("reorder and wait", rest, measured->total.max);
    print_share("close", measured->close.max, measured->total.max);
}

void summary_print(const Run *run, const Measured *measured, double seconds)
{
    char detail[512];
    const char *status = summary_verdict(run, measured, detail, sizeof detail);
    if (run->cube.rank != 0)
        return;
    print_original(run, measured, seconds);
    print_beside(run, measured);
    printf("Verification: %s (%s)\n", status, detail);
}
