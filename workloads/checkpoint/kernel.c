#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <sys/uio.h>
#include <unistd.h>

#include "result.h"
#include "store.h"

/* A file of one packet that is written, closed and removed. */

#ifdef HAVE_NETCDF
#include <netcdf.h>

static void write_netcdf(const char *path, const float *packet, size_t cells, Trouble *trouble)
{
    int file, dimension, variable;
    int code = nc_create(path, NC_NETCDF4 | NC_CLOBBER, &file);
    bool created = code == NC_NOERR;
    if (created)
        code = nc_def_dim(file, "dim1", cells, &dimension);
    if (code == NC_NOERR)
        code = nc_def_var(file, "var1", NC_FLOAT, 1, &dimension, &variable);
    if (code == NC_NOERR)
        code = nc_enddef(file);
    if (code == NC_NOERR)
        code = nc_put_var_float(file, variable, packet);
    int closed = created ? nc_close(file) : NC_NOERR;
    if (code != NC_NOERR || closed != NC_NOERR)
        trouble_note(trouble, "cannot write %s: %s", path, nc_strerror(code != NC_NOERR ? code : closed));
}
#else
static void write_netcdf(const char *path, const float *packet, size_t cells, Trouble *trouble)
{
    (void)packet, (void)cells;
    trouble_note(trouble, "cannot write %s: this program was built without netCDF", path);
}
#endif

/* Writes all parts, in as many calls as the system needs. */
static bool write_parts(int file, struct iovec *parts, int count)
{
    while (count > 0) {
        ssize_t moved = writev(file, parts, count);
        if (moved < 0 && errno != EINTR)
            return false;
        moved = moved < 0 ? 0 : moved;
        for (; count > 0 && moved >= (ssize_t)parts->iov_len; parts++, count--)
            moved -= (ssize_t)parts->iov_len;
        if (count > 0) {
            parts->iov_base = (char *)parts->iov_base + moved;
            parts->iov_len -= (size_t)moved;
        }
    }
    return true;
}

static void write_binary(const char *path, const float *packet, size_t cells, Trouble *trouble)
{
    int32_t mark = (int32_t)(cells * sizeof *packet);
    struct iovec parts[] = {
        {&mark, sizeof mark}, {(void *)packet, cells * sizeof *packet}, {&mark, sizeof mark}};
    int file = open(path, O_WRONLY | O_CREAT | O_EXCL, 0666);
    bool good = file >= 0 && write_parts(file, parts, 3);
    int reason = errno;
    if (file >= 0 && close(file) != 0 && good) {
        good = false;
        reason = errno;
    }
    if (!good)
        trouble_note(trouble, "cannot write %s: %s", path, strerror(reason));
}

/* Writes netCDF-4 with one variable, or one sequential Fortran record. A binary file must not exist
 * before. */
static void scratch_write(const char *path, bool netcdf, const float *packet, size_t cells, Trouble *trouble)
{
    bool stale = !netcdf && access(path, F_OK) == 0;
    if (stale) {
        trouble_note(trouble, "the file %s exists, left by a run that was cut short; remove it and run again",
                     path);
        return;
    }
    if (netcdf)
        write_netcdf(path, packet, cells, trouble);
    else
        write_binary(path, packet, cells, trouble);
    if (unlink(path) != 0 && !trouble->any)
        trouble_note(trouble, "cannot remove %s: %s", path, strerror(errno));
}

/* The output of the kernels: a table in the form of MAPL's original programs, and the result JSON. As in the
 * originals, GB is 10^9 bytes. */

typedef struct KernelMode {
    const char *name;
    bool gathers, writes;
} KernelMode;

typedef struct Kernel {
    const Config *config;
    const KernelMode *mode;
    /* Communicators: all ranks, this rank's group, and the writers (MPI_COMM_NULL on other ranks). */
    MPI_Comm world, group, writers;
    int rank, ranks, members; /* Rank, number of ranks, and number of ranks in this rank's group. */
    bool writes;
    /* Number of cells in a writer's packet, and number of cells that each rank contributes. */
    long long packet_cells, own_cells;
    float *packet, *own;
    /* For each member of the group, the number of cells that it contributes, and the index in the packet at
     * which they begin. */
    int *counts, *starts;
    char path[PATH_MAX + 16];
    long long wrong_values;
} Kernel;

/* Seconds of one try on this rank; `write` is 0 on a rank that does not write. */
typedef struct KernelTimes {
    double gather, write;
} KernelTimes;

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

static void kernel_report_header(const Kernel *kernel)
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

static void kernel_report_row(const Kernel *kernel, const KernelTimes *times)
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

/* Collective. Prints the rows and writes the JSON. */
static void kernel_report_json(const Kernel *kernel, const Program *program, const KernelTimes *times,
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

static const KernelMode MODES[] = {{"raw_bw", false, true}, {"gatherv", true, false}, {"combo", true, true}};

static const KernelMode *mode_named(const char *name)
{
    for (size_t i = 0; i < sizeof MODES / sizeof MODES[0]; i++)
        if (strcmp(MODES[i].name, name) == 0)
            return &MODES[i];
    return NULL;
}

static long long cells_of(const Problem *problem)
{
    return (long long)problem->nx * problem->nx * FACES * problem->lm;
}

void kernel_check(const Config *config, int ranks, Trouble *trouble)
{
    const Problem *problem = &config->problem;
    if (mode_named(config->mode) == NULL)
        trouble_note(trouble, "--mode %s: unknown; the modes are raw_bw, gatherv and combo", config->mode);
    if (strcmp(config->file_type, "binary") != 0 && strcmp(config->file_type, "netcdf") != 0)
        trouble_note(trouble, "--file_type %s: unknown; the types are binary and netcdf", config->file_type);
    if (problem->nx < 1 || problem->nx > INT_MAX / FACES || problem->lm < 1 || problem->trials < 1)
        trouble_note(trouble, "--nx, --n_levs and --n_tries must be at least 1; they are %d, %d and %d",
                     problem->nx, problem->lm, problem->trials);
    else if (problem->io_ranks < 1 || problem->io_ranks > ranks)
        trouble_note(trouble, "--n_writers %d: from 1 to the %d ranks", problem->io_ranks, ranks);
    else if (cells_of(problem) / problem->io_ranks * (long long)sizeof(float) > FORTRAN_RECORD_MAX)
        trouble_note(trouble, "a packet of more than %d bytes for each writer: use more writers",
                     FORTRAN_RECORD_MAX);
}

static void make(Kernel *kernel, const Config *config, MPI_Comm world)
{
    const Problem *problem = &config->problem;
    *kernel = (Kernel){.config = config, .mode = mode_named(config->mode), .world = world};
    MPI_Comm_rank(world, &kernel->rank);
    MPI_Comm_size(world, &kernel->ranks);
    int group = (int)((long long)kernel->rank * problem->io_ranks / kernel->ranks), rank_in_group;
    MPI_Comm_split(world, group, kernel->rank, &kernel->group);
    MPI_Comm_rank(kernel->group, &rank_in_group);
    MPI_Comm_size(kernel->group, &kernel->members);
    kernel->writes = rank_in_group == 0;
    MPI_Comm_split(world, kernel->writes ? 0 : MPI_UNDEFINED, kernel->rank, &kernel->writers);
    kernel->packet_cells = cells_of(problem) / problem->io_ranks;
    kernel->own_cells = cells_of(problem) / kernel->ranks;
    kernel->own = allocate((size_t)kernel->own_cells, sizeof(float));
    for (long long at = 0; at < kernel->own_cells; at++)
        kernel->own[at] = (float)kernel->rank + (float)(at % 1024) / 1024;
    if (kernel->writes)
        kernel->packet = allocate((size_t)kernel->packet_cells, sizeof(float));
    if (kernel->writes)
        snprintf(kernel->path, sizeof kernel->path, "%s/scratch.%05d", config->directory, group);
    kernel->counts = allocate((size_t)kernel->members, sizeof(int));
    kernel->starts = allocate((size_t)kernel->members, sizeof(int));
    for (int at = 0; at < kernel->members; at++) {
        kernel->counts[at] = (int)kernel->own_cells;
        kernel->starts[at] = (int)(at * kernel->own_cells);
    }
}

/* Checks that the data from each rank of the group equals the data with which that rank filled its part. */
static void check_gathered(Kernel *kernel, const float *gathered)
{
    for (int at = 0; at < kernel->members; at++)
        for (long long cell = 0; cell < kernel->own_cells; cell++)
            kernel->wrong_values += gathered[at * kernel->own_cells + cell] !=
                                    (float)(kernel->rank + at) + (float)(cell % 1024) / 1024;
}

/* Gathers the cells of a group on its writer, and returns the seconds. As in the original, the time includes
 * allocating the receiving buffer. */
static double gather(Kernel *kernel)
{
    size_t received = kernel->writes ? (size_t)(kernel->own_cells * kernel->members) : 0;
    MPI_Barrier(kernel->group);
    double start = MPI_Wtime();
    float *gathered = malloc(received * sizeof *gathered + 1);
    if (gathered == NULL)
        fail_alone("out of memory: %zu cells are needed at once; use more writers", received);
    MPI_Gatherv(kernel->own, (int)kernel->own_cells, MPI_FLOAT, gathered, kernel->counts, kernel->starts,
                MPI_FLOAT, 0, kernel->group);
    MPI_Barrier(kernel->group);
    double seconds = MPI_Wtime() - start;
    if (kernel->writes)
        check_gathered(kernel, gathered);
    free(gathered);
    return seconds;
}

static double write_packet(Kernel *kernel, Trouble *trouble)
{
    bool netcdf = strcmp(kernel->config->file_type, "netcdf") == 0;
    if (!kernel->writes)
        return 0.0;
    abandon_none();
    if (access(kernel->path, F_OK) != 0)
        abandon_add(kernel->path);
    MPI_Barrier(kernel->writers);
    double start = MPI_Wtime();
    scratch_write(kernel->path, netcdf, kernel->packet, (size_t)kernel->packet_cells, trouble);
    MPI_Barrier(kernel->writers);
    return MPI_Wtime() - start;
}

int kernel_run(const Program *program, const Config *config, MPI_Comm world)
{
    Kernel kernel;
    Trouble trouble = {0};
    make(&kernel, config, world);
    int tries = config->problem.trials;
    KernelTimes *times = allocate((size_t)tries, sizeof *times);
    kernel_report_header(&kernel);
    for (int at = 0; at < tries; at++) {
        if (kernel.mode->gathers)
            times[at].gather = gather(&kernel);
        if (kernel.mode->writes)
            times[at].write = write_packet(&kernel, &trouble);
        fail_if_trouble(EXIT_FAILED, &trouble, world);
    }
    abandon_none();
    MPI_Allreduce(MPI_IN_PLACE, &kernel.wrong_values, 1, MPI_LONG_LONG, MPI_SUM, world);
    kernel_report_row(&kernel, times);
    kernel_report_json(&kernel, program, times, &trouble);
    fail_if_trouble(EXIT_FAILED, &trouble, world);
    if (kernel.wrong_values > 0)
        fail(EXIT_FAILED, "%lld gathered values are wrong", kernel.wrong_values);
    return EXIT_SUCCESS;
}
