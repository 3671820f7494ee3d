#include "test.h"

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <unistd.h>

static const char *const ACCESS[] = {"write", "write check", "read", "read check"};

static char *buffer_of(const Settings *s)
{
    int64_t pieces = s->strided ? s->segments : 1;
    void *memory = NULL;
    if (posix_memalign(&memory, 4096, (size_t)(s->transfer * pieces)) != 0)
        fail_alone("out of memory: %lld bytes are needed for a transfer", (long long)(s->transfer * pieces));
    return memset(memory, 0, (size_t)(s->transfer * pieces));
}

/* Allocates this task's share of a node's memory and writes to it, so that the page cache has less room. */
static char *occupy(const Settings *s, const Team *team)
{
    size_t bytes = (size_t)(s->memory_per_node / team->per_node);
    return bytes > 0 ? memset(allocate(1, bytes), 1, bytes) : NULL;
}

static void add_row(Test *test, const Row *row, Reporter *report)
{
    test->rows = realloc(test->rows, (size_t)(test->count + 1) * sizeof *test->rows);
    if (test->rows == NULL)
        fail_alone("out of memory for the results");
    test->rows[test->count++] = *row;
    if (test->team.rank == 0)
        report(test, row);
}

/* Closes a CSV file and notes an error if that fails: a full disk may show only when the data is flushed.
 * `out` may be NULL. */
static void end_csv(FILE *out, const char *path, Trouble *trouble)
{
    if (out == NULL)
        return;
    bool failed = ferror(out) != 0;
    if (fclose(out) != 0 || failed)
        trouble_note(trouble, "cannot write %s: %s", path, strerror(errno));
}

/* Appends a line with the times of each task to the file that the option saveRankPerformanceDetailsCSV
 * names. */
static void save_ranks(const Test *test, const Clocks *mine, Step step, Trouble *trouble)
{
    const Settings *s = test->settings;
    int tasks = test->team.tasks;
    Clocks *all = allocate((size_t)tasks, sizeof *all);
    MPI_Gather(mine, sizeof *mine, MPI_BYTE, all, sizeof *mine, MPI_BYTE, 0, test->team.comm);
    FILE *out = test->team.rank == 0 ? fopen(s->rank_csv, test->count == 0 ? "w" : "a") : NULL;
    if (test->team.rank == 0 && out == NULL)
        trouble_note(trouble, "cannot write %s: %s", s->rank_csv, strerror(errno));
    if (out != NULL && test->count == 0)
        fputs("access,rank,runtime-with-openclose,runtime,throughput-withopenclose,throughput\n", out);
    for (int r = 0; r < tasks && out != NULL; r++) {
        double whole = all[r].close_stop - all[r].open_start, moving = all[r].move_stop - all[r].move_start;
        double bytes = (double)(s->block * s->segments);
        fprintf(out, "%s,%d,%.10e,%.10e,%.10e,%.10e\n", ACCESS[step], r, whole, moving, bytes / whole,
                bytes / moving);
    }
    end_csv(out, s->rank_csv, trouble);
    free(all);
}

/* Warns if this task's time differs from the mean of all tasks by more than the option `outlier` allows. */
static void name_outliers(const Test *test, const Clocks *mine, const Outcome *o)
{
    double took = mine->close_stop - mine->open_start;
    double off = took - o->seconds.mean;
    if (test->settings->outlier > 0 && (off > test->settings->outlier || -off > test->settings->outlier))
        fprintf(stderr, "ior: WARNING: for task %d, %s took %.3f s, the mean of all tasks is %.3f s\n",
                test->team.rank, ACCESS[o->step], took, o->seconds.mean);
}

static void run_phase(Test *test, Job *job, Step step, Reporter *report, Trouble *trouble)
{
    Clocks mine;
    sleep((unsigned)job->settings->delay);
    Row row = {.outcome = phase_run(job, step, &mine, trouble)};
    if (trouble_shared(trouble, test->team.comm))
        return;
    if (step == STEP_CHECK_WRITE || step == STEP_CHECK_READ) {
        test->errors += row.outcome.errors;
        test->checks++;
        return;
    }
    if (job->settings->rank_csv != NULL)
        save_ranks(test, &mine, step, trouble);
    name_outliers(test, &mine, &row.outcome);
    add_row(test, &row, report);
}

static void remove_files(const Job *job, Trouble *trouble)
{
    char path[PATH_MAX];
    phase_path(job, job->team.rank, path, sizeof path);
    MPI_Barrier(job->team.comm);
    if (job->settings->own_file || job->team.rank == 0)
        job->api->remove(path, trouble);
    if (job->settings->own_directory)
        *strrchr(path, '/') = '\0';
    if (job->settings->own_directory && rmdir(path) != 0 && errno != ENOTEMPTY && errno != ENOENT)
        trouble_note(trouble, "cannot remove %s: %s", path, strerror(errno));
    MPI_Barrier(job->team.comm);
}

static void end_repetition(Test *test, Job *job, Reporter *report, Trouble *trouble)
{
    const Settings *s = test->settings;
    char path[PATH_MAX];
    phase_path(job, test->team.rank, path, sizeof path);
    if (test->team.rank == 0 && test->file.path == NULL)
        test->file = result_file(strdup(path));
    bool keep = s->keep || (s->keep_with_error && test->errors > 0) || !(s->write || s->check_write);
    if (keep)
        return;
    double began = MPI_Wtime();
    remove_files(job, trouble);
    Row row = {
        .outcome.total = MPI_Wtime() - began, .outcome.repetition = job->repetition, .is_removal = true};
    add_row(test, &row, report);
}

/* Reads how many transfers of each task an earlier run had written, for a run that only reads. */
static void read_status(const Settings *s, int64_t *pairs, Trouble *trouble)
{
    long long number;
    FILE *in = fopen(s->wearout_file, "r");
    if (in == NULL || fscanf(in, "%lld", &number) != 1 || number < 1)
        trouble_note(trouble, "%s does not hold a number of transfers: %s", s->wearout_file,
                     in == NULL ? strerror(errno) : "it was not written by ior");
    else
        *pairs = number;
    if (in != NULL)
        fclose(in);
}

static void write_status(const Settings *s, int64_t pairs, Trouble *trouble)
{
    FILE *out = fopen(s->wearout_file, "w");
    if (out == NULL || fprintf(out, "%lld\n", (long long)pairs) < 0 || fclose(out) != 0)
        trouble_note(trouble, "cannot write %s: %s", s->wearout_file, strerror(errno));
}

static bool time_is_up(const Settings *s, double began, MPI_Comm comm)
{
    int up = s->minutes > 0 && MPI_Wtime() - began > 60.0 * s->minutes;
    MPI_Bcast(&up, 1, MPI_INT, 0, comm);
    return up != 0;
}

static void repetition(Test *test, Job *job, double began, Reporter *report, Trouble *trouble)
{
    const Settings *s = test->settings;
    static const Step steps[] = {STEP_WRITE, STEP_CHECK_WRITE, STEP_READ, STEP_CHECK_READ};
    const bool wanted[] = {s->write, s->check_write, s->read, s->check_read};
    if (s->write && !s->existing)
        remove_files(job, trouble);
    for (int i = 0; i < 4 && !trouble_shared(trouble, test->team.comm); i++)
        if (wanted[i] && !time_is_up(s, began, test->team.comm))
            run_phase(test, job, steps[i], report, trouble);
    if (trouble->any && s->write && !s->keep) {
        Trouble ignored = {0};
        remove_files(job, &ignored);
    } else if (!trouble->any) {
        end_repetition(test, job, report, trouble);
    }
}

static FILE *open_operations(const Settings *s, const Team *team, Trouble *trouble)
{
    char path[PATH_MAX];
    if (s->operation_csv == NULL)
        return NULL;
    snprintf(path, sizeof path, "%s-%05d.csv", s->operation_csv, team->rank);
    FILE *out = fopen(path, "w");
    if (out == NULL)
        trouble_note(trouble, "cannot write %s: %s", path, strerror(errno));
    else
        fputs("time,runtime,tp\n", out);
    return out;
}

Test test_run(const Settings *settings, const Team *team, int number, Reporter *report, Trouble *trouble)
{
    Test test = {.settings = settings, .team = *team, .number = number};
    Settings own = *settings;
    double began = MPI_Wtime();
    if (own.wearout_file != NULL && !own.write && own.wearout_pairs == 0)
        read_status(&own, &own.wearout_pairs, trouble);
    Job job = {.settings = &own, .api = api_of(&own), .team = *team};
    job.cached = own.cold ? 0.0 : NAN;
    job.operations = open_operations(&own, team, trouble);
    job.buffer = buffer_of(&own);
    job.expected = buffer_of(&own);
    job.done = allocate((size_t)team->tasks, sizeof *job.done);
    for (int i = 0; i < team->tasks; i++)
        job.done[i] = INT64_MAX;
    char *occupied = occupy(&own, team);
    for (int r = 0; r < own.repetitions && !trouble_shared(trouble, team->comm); r++) {
        job.repetition = r;
        repetition(&test, &job, began, report, trouble);
    }
    if (own.wearout_file != NULL && own.write && team->rank == 0 && !trouble->any)
        write_status(&own, job.done[0], trouble);
    test.effective = job.effective;
    test.cached = job.cached;
    end_csv(job.operations, own.operation_csv, trouble);
    free(occupied);
    free(job.buffer);
    free(job.expected);
    free(job.done);
    return test;
}
