/* IOR's text: header, option block, table of results, summary of all tests. */
#include <math.h>
#include <stdlib.h>
#include <sys/statvfs.h>
#include <sys/utsname.h>

#include "json.h"
#include "print.h"

#define MIB 1048576.0
#define GIB 1073741824.0

static void begin(int argc, char **argv, const Settings *settings)
{
    struct utsname machine;
    uname(&machine);
    (void)settings;
    fprintf(print_out, "IOR-%s (iolens): MPI Coordinated Test of Parallel I/O\n", VERSION);
    fprintf(print_out, "%-20s: %s\n", "Began", print_now());
    fprintf(print_out, "%-20s:", "Command line");
    for (int i = 0; i < argc; i++)
        fprintf(print_out, " %s", argv[i]);
    fprintf(print_out, "\n%-20s: %s %s\n", "Machine", machine.sysname, machine.nodename);
}

static void file_system(const char *path)
{
    struct statvfs fs;
    char folder[4096];
    snprintf(folder, sizeof folder, "%s", path);
    char *slash = strrchr(folder, '/');
    if (slash != NULL)
        *slash = '\0';
    if (statvfs(slash == NULL ? "." : folder[0] == '\0' ? "/" : folder, &fs) != 0 || fs.f_blocks == 0)
        return;
    double total = (double)fs.f_blocks * (double)fs.f_frsize;
    double used = 100.0 * (1.0 - (double)fs.f_bfree / (double)fs.f_blocks);
    double inodes = fs.f_files > 0 ? 100.0 * (1.0 - (double)fs.f_ffree / (double)fs.f_files) : 0.0;
    fprintf(print_out, "%-20s: %.1f GiB   Used FS: %.1f%%   Inodes: %.1f Mi   Used Inodes: %.1f%%\n", "FS",
            total / GIB, used, (double)fs.f_files / MIB, inodes);
}

static void columns(const char *const names[])
{
    static const int widths[] = {10, 11, 11, 12, 11, 11, 11, 11, 11, 11, 5};
    for (int i = 0; i < 11; i++)
        fprintf(print_out, i < 10 ? "%-*s" : "%.*s", i < 10 ? widths[i] : 4, names[i]);
    fputc('\n', print_out);
}

static void test_begin(const Settings *settings, const Team *team, int number)
{
    static const char *const names[] = {"access",     "bw(MiB/s)", "IOPS",    "Latency(s)",
                                        "block(KiB)", "xfer(KiB)", "open(s)", "wr/rd(s)",
                                        "close(s)",   "total(s)",  "iter"};
    static const char *const lines[] = {"------",     "---------", "----",     "----------",
                                        "----------", "---------", "--------", "--------",
                                        "--------",   "--------",  "----"};
    Fact facts[FACTS_MAX];
    int count = print_facts(settings, team, facts);
    fprintf(print_out, "%-20s: %d\n%-20s: %s\n", "TestID", number, "StartTime", print_now());
    fprintf(print_out, "%-20s: %s\n", "Path", settings->file);
    file_system(settings->file);
    fputs("\nOptions: \n", print_out);
    for (int i = 0; i < count; i++)
        fprintf(print_out, "%-20s: %s\n", facts[i].key, facts[i].value);
    fputs("\nResults: \n\n", print_out);
    columns(names);
    columns(lines);
}

/* Prints a number, left-justified: six decimals below 1, two below 3600, none above; a dash for an unknown
 * value. */
static void number(double value, int width)
{
    if (!is_finite(value) || value < 0)
        fprintf(print_out, "%-*s ", width, "-");
    else
        fprintf(print_out, "%-*.*f ", width, value < 1 ? 6 : value < 3600 ? 2 : 0, value);
}

static void row(const Test *test, const Row *row)
{
    const Settings *s = test->settings;
    const Outcome *o = &row->outcome;
    if (row->is_removal && s->verbosity == 0)
        return;
    if (!row->is_removal && o->wall_seconds > 0 && o->fewest != o->most)
        fprintf(print_out,
                "stonewalling pairs accessed min: %lld max: %lld -- min data: %.1f GiB mean data: %.1f GiB "
                "time: %.1fs\n",
                (long long)o->fewest, (long long)o->most, (double)(o->fewest * s->transfer) / GIB,
                o->wall_bytes / GIB, o->wall_seconds);
    fprintf(print_out, "%-10s", print_access(row));
    const double values[] = {o->bandwidth / MIB,
                             o->per_second,
                             o->latency,
                             (double)s->block / 1024.0,
                             (double)s->transfer / 1024.,
                             o->open,
                             o->move,
                             o->close,
                             o->total};
    static const int widths[] = {10, 10, 11, 10, 10, 10, 10, 10, 10};
    for (int i = 0; i < 9; i++)
        number(row->is_removal && i < 8 ? NAN : values[i], widths[i]);
    fprintf(print_out, "%-4d\n", o->repetition);
    fflush(print_out);
}

static void test_end(const Test *test)
{
    double *bandwidth = allocate((size_t)test->count + 1, sizeof *bandwidth);
    double *seconds = allocate((size_t)test->count + 1, sizeof *seconds);
    static const Step steps[] = {STEP_WRITE, STEP_READ};
    static const char *const names[] = {"Max Write: ", "Max Read:  "};
    for (int i = 0; i < 2; i++) {
        int n = print_values(test, steps[i], bandwidth, seconds);
        if (n > 0) {
            double most = typical_of(bandwidth, n).most;
            fprintf(print_out, "%s%.2f MiB/sec (%.2f MB/sec)\n", names[i], most, most * MIB / 1e6);
        }
    }
    free(bandwidth);
    free(seconds);
}

static void summary_line(const Test *test, Step step, const char *name)
{
    const Settings *s = test->settings;
    double *bandwidth = allocate((size_t)test->count + 1, sizeof *bandwidth);
    double *seconds = allocate((size_t)test->count + 1, sizeof *seconds);
    int n = print_values(test, step, bandwidth, seconds);
    if (n > 0) {
        Typical t = typical_of(bandwidth, n), time = typical_of(seconds, n);
        double ops = MIB / (double)s->transfer, wall = NAN, wall_mib = NAN;
        double bytes = (double)(s->block * s->segments * test->team.tasks);
        for (int i = 0; i < test->count; i++)
            if (!test->rows[i].is_removal && test->rows[i].outcome.step == step) {
                const Outcome *o = &test->rows[i].outcome;
                bytes = (double)o->bytes;
                if (o->wall_seconds > 0)
                    wall = o->wall_seconds, wall_mib = o->wall_bytes / o->wall_seconds / MIB;
            }
        fprintf(print_out, "%-9s %10.2f %10.2f %10.2f %10.2f %10.2f %10.2f %10.2f %10.2f %10.5f ", name,
                t.most, t.least, t.mean, t.deviation, t.most * ops, t.least * ops, t.mean * ops,
                t.deviation * ops, time.mean);
        if (is_finite(wall))
            fprintf(print_out, "%10.2f %13.2f ", wall, wall_mib);
        else
            fprintf(print_out, "%10s %13s ", "NA", "NA");
        fprintf(print_out, "%5d %6d %3d %4d %3d %5d %8d %9d %4d %6lld %8lld %8lld %9.1f %5s %6d\n",
                test->number, test->team.tasks, test->team.per_node, s->repetitions, s->own_file, s->shift,
                s->task_offset, s->shift_random, s->seed, (long long)s->segments, (long long)s->block,
                (long long)s->transfer, bytes / MIB, s->api, s->reference);
    }
    free(bandwidth);
    free(seconds);
}

/* Prints a line that IOR does not have: the median bandwidth, its 95 % interval, and the spread of times over
 * the tasks. */
static void typical_line(const Test *test, Step step, const char *name)
{
    double *bandwidth = allocate((size_t)test->count + 1, sizeof *bandwidth);
    double *seconds = allocate((size_t)test->count + 1, sizeof *seconds);
    int n = print_values(test, step, bandwidth, seconds);
    double apart = 0.0;
    for (int i = 0; i < test->count; i++)
        if (!test->rows[i].is_removal && test->rows[i].outcome.step == step) {
            const Spread *spread = &test->rows[i].outcome.seconds;
            double ratio = spread->min > 0.0 ? spread->max / spread->min : 1.0;
            apart = ratio > apart ? ratio : apart;
        }
    if (n > 0) {
        Typical t = typical_of(bandwidth, n);
        fprintf(print_out, "%-5s test %d: median %.2f MiB/s", name, test->number, t.median);
        if (is_finite(t.low))
            fprintf(print_out, " [%.2f, %.2f]", t.low, t.high);
        else
            fprintf(print_out, " (no interval below 6 repetitions)");
        fprintf(print_out, "; slowest task at most %.2f times the fastest\n", apart);
    }
    free(bandwidth);
    free(seconds);
}

static void end(const Test *tests, int count)
{
    fputs("\nSummary of all tests:\n"
          "Operation   Max(MiB)   Min(MiB)  Mean(MiB)     StdDev   Max(OPs)   Min(OPs)  Mean(OPs)     StdDev"
          "    Mean(s) Stonewall(s) Stonewall(MiB) Test# #Tasks tPN reps fPP reord reordoff reordrand seed "
          "segcnt"
          "   blksiz    xsize aggs(MiB)   API RefNum\n",
          print_out);
    for (int i = 0; i < count; i++) {
        summary_line(&tests[i], STEP_WRITE, "write");
        summary_line(&tests[i], STEP_READ, "read");
    }
    fprintf(print_out, "Finished            : %s\n\nTypical values (95 %% interval of the median):\n",
            print_now());
    for (int i = 0; i < count; i++) {
        typical_line(&tests[i], STEP_WRITE, "write");
        typical_line(&tests[i], STEP_READ, "read");
    }
}

const Format FORMAT_TEXT = {"default", begin, test_begin, row, test_end, end};
