#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "page_cache.h"
#include "test.h"

/* The contents of the files: words that identify the task that wrote them and, every 4096 bytes, a word that
 * depends on its offset. */

/* Number of bytes between two stamps. */
enum { STAMP_EVERY = 4096 };

/* Returns a well mixed word made from a counter, by splitmix64 (Steele, Lea, Flood 2014). */
static uint64_t mixed(uint64_t x)
{
    x += 0x9e3779b97f4a7c15u;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
}

static bool is_mixed(const Settings *s) { return s->packet[0] == 'i' || s->packet[0] == 'r'; }

/* Fills a buffer with the words of task `writer`, without stamps. */
static void pattern_fill(const Settings *settings, int writer, char *buffer, int64_t bytes)
{
    uint64_t *words = (uint64_t *)buffer;
    uint64_t seed = (uint64_t)writer << 32 | (uint32_t)settings->signature;
    for (int64_t i = 0; i < bytes / 8; i++)
        words[i] = is_mixed(settings) ? mixed(seed + (uint64_t)i) : seed + (uint64_t)i;
}

static uint64_t stamp(const Settings *settings, int writer, int64_t offset)
{
    uint64_t where =
        (uint64_t)writer << 48 ^ (uint64_t)(uint32_t)settings->signature << 16 ^ (uint64_t)offset;
    return is_mixed(settings) ? mixed(where) : where;
}

/* Puts words that depend on the file offset into a filled buffer; does nothing for the packet type
 * timestamp. */
static void pattern_stamp(const Settings *settings, int writer, char *buffer, int64_t bytes, int64_t offset)
{
    uint64_t *words = (uint64_t *)buffer;
    if (settings->packet[0] == 't')
        return;
    for (int64_t at = 0; at < bytes; at += STAMP_EVERY)
        words[at / 8] = stamp(settings, writer, offset + at);
}

/* Returns how many 64-bit words of `found` differ from those that task `writer` wrote at `offset`; `expected`
 * is a buffer that pattern_fill filled for this task. `first` receives the offset of the first wrong word. */
static int64_t pattern_errors(const Settings *settings, int writer, char *expected, const char *found,
                              int64_t bytes, int64_t offset, int64_t *first)
{
    int64_t wrong = 0;
    pattern_stamp(settings, writer, expected, bytes, offset);
    if (memcmp(expected, found, (size_t)bytes) == 0)
        return 0;
    for (int64_t at = 0; at < bytes; at += 8)
        if (memcmp(expected + at, found + at, 8) != 0 && wrong++ == 0)
            *first = offset + at;
    return wrong;
}

enum { TOLD = 5 };

/* State of one task in one phase of a test. */
typedef struct Work {
    Job *job;
    Step step;
    Target target;
    Plan plan;
    int owner; /* Task whose data this task moves. */
    void *file;
    Clocks clocks;
    int64_t moved, limit; /* Number of transfers that are done, and largest number of transfers to do. */
    int64_t at_wall;      /* Number of transfers that this task had done at the deadline. */
    double wall;
    int64_t errors;
} Work;

void phase_path(const Job *job, int owner, char *path, size_t room)
{
    const Settings *s = job->settings;
    char name[PATH_MAX];
    snprintf(name, sizeof name, "%s", s->file);
    if (s->own_file && strchr(name, '@') != NULL) {
        int parts = 1, at = 0;
        for (char *c = name; *c != '\0'; c++)
            parts += *c == '@';
        char *rest = name, *part = strsep(&rest, "@");
        while (at++ < owner % parts)
            part = strsep(&rest, "@");
        memmove(name, part, strlen(part) + 1);
    }
    char *slash = strrchr(name, '/');
    int used = 0;
    if (s->own_directory && slash != NULL)
        used = snprintf(path, room, "%.*s/%d/%s", (int)(slash - name), name, owner, slash + 1);
    else if (s->own_directory)
        used = snprintf(path, room, "%d/%s", owner, name);
    else
        used = snprintf(path, room, "%s", name);
    if (s->own_directory) {
        path[strrchr(path, '/') - path] = '\0';
        mkdir(path, 0775);
        path[strlen(path)] = '/';
    }
    if (s->own_file)
        used += snprintf(path + used, room - (size_t)used, ".%08d", owner);
    if (s->many_files)
        snprintf(path + used, room - (size_t)used, ".%d", job->repetition);
}

static bool is_check(Step step) { return step == STEP_CHECK_WRITE || step == STEP_CHECK_READ; }

static void compare(Work *work, int64_t i)
{
    const Settings *s = work->job->settings;
    for (int64_t p = 0; p < work->plan.pieces; p++) {
        int64_t offset = plan_offset(&work->plan, i, p, work->target.place), first = 0;
        int64_t wrong = pattern_errors(s, work->owner, work->job->expected + p * s->transfer,
                                       work->job->buffer + p * s->transfer, s->transfer, offset, &first);
        if (wrong > 0 && work->errors < TOLD)
            fprintf(stderr,
                    "ior: task %d: %lld of %lld words wrong in the transfer at offset %lld of %s, first at "
                    "%lld\n",
                    work->job->team.rank, (long long)wrong, (long long)s->transfer / 8, (long long)offset,
                    work->target.path, (long long)first);
        work->errors += wrong > 0;
    }
}

/* Performs transfer `i`. Before a write, puts words that depend on the offset into the data; after a read
 * that checks, compares the data. Returns false if the transfer failed. */
static bool move_one(Work *work, int64_t i, Trouble *trouble)
{
    Job *job = work->job;
    const Settings *s = job->settings;
    int64_t offset = plan_offset(&work->plan, i, 0, work->target.place);
    if (work->step == STEP_WRITE)
        for (int64_t p = 0; p < work->plan.pieces; p++)
            pattern_stamp(s, job->team.rank, job->buffer + p * s->transfer, s->transfer,
                          plan_offset(&work->plan, i, p, work->target.place));
    double before = job->operations != NULL ? MPI_Wtime() : 0.0;
    bool good = job->api->transfer(work->file, &work->target, job->buffer, s->transfer * work->plan.pieces,
                                   offset, trouble);
    if (good && s->sync_each && work->step == STEP_WRITE)
        job->api->sync(work->file, &work->target, trouble);
    if (job->operations != NULL && !is_check(work->step)) {
        double took = MPI_Wtime() - before;
        fprintf(job->operations, "%.9f,%.9f,%.3f\n", before - work->clocks.open_start, took,
                (double)(s->transfer * work->plan.pieces) / took);
    }
    if (good && is_check(work->step))
        compare(work, i);
    return good;
}

/* Returns true if the deadline has passed; all tasks of a collective test get the same result. */
static bool is_over(const Work *work, int64_t i)
{
    const Settings *s = work->job->settings;
    if (s->deadline == 0 || is_check(work->step))
        return false;
    int over = i > 0 && MPI_Wtime() - work->clocks.move_start >= s->deadline;
    if (s->collective)
        MPI_Bcast(&over, 1, MPI_INT, 0, work->job->team.comm);
    return over != 0;
}

/* Returns true if the task must do its transfers again, because the phase has not yet lasted as long as the
 * settings demand. */
static bool goes_on(const Work *work)
{
    const Settings *s = work->job->settings;
    if (s->minimum_seconds == 0 || is_check(work->step))
        return false;
    int on = MPI_Wtime() - work->clocks.move_start < s->minimum_seconds;
    if (s->collective)
        MPI_Bcast(&on, 1, MPI_INT, 0, work->job->team.comm);
    return on != 0;
}

/* Performs transfers `from` up to `to`, and repeats them until the phase has lasted long enough. In a
 * collective test a task whose transfer failed goes on making calls, so that the other tasks do not wait for
 * it for ever. */
static void move_all(Work *work, int64_t from, int64_t to, bool until_deadline, Trouble *trouble)
{
    bool collective = work->job->settings->collective;
    for (int64_t i = from; i < to; i++) {
        if (until_deadline && is_over(work, i))
            return;
        bool good = move_one(work, i, trouble);
        work->moved += good;
        if (!good && !collective)
            return;
        if (i + 1 == to && until_deadline && goes_on(work))
            i = from - 1;
    }
}

static void transfers(Work *work, Trouble *trouble)
{
    const Settings *s = work->job->settings;
    MPI_Comm comm = work->job->team.comm;
    work->clocks.move_start = MPI_Wtime();
    move_all(work, 0, work->limit, true, trouble);
    work->at_wall = work->moved;
    work->wall = MPI_Wtime() - work->clocks.move_start;
    if (s->wearout && s->deadline > 0 && !is_check(work->step)) {
        int64_t most = work->moved;
        MPI_Allreduce(MPI_IN_PLACE, &most, 1, MPI_INT64_T, MPI_MAX, comm);
        most = most < work->limit ? most : work->limit;
        if (!trouble->any)
            move_all(work, work->moved, most, false, trouble);
    }
    work->clocks.move_stop = MPI_Wtime();
}

static void prepare(Work *work, char *path, size_t room)
{
    Job *job = work->job;
    const Settings *s = job->settings;
    phase_path(job, work->owner, path, room);
    work->target = (Target){
        .settings = s,
        .path = path,
        .comm = s->own_file ? MPI_COMM_SELF : job->team.comm,
        .place = s->own_file ? 0 : work->owner,
        .sharers = s->own_file ? 1 : job->team.tasks,
        .writing = work->step == STEP_WRITE,
    };
    work->plan = plan_make(s, work->target.sharers, work->owner);
    work->limit =
        s->wearout_pairs > 0 && s->wearout_pairs < work->plan.count ? s->wearout_pairs : work->plan.count;
    if (work->step != STEP_WRITE && job->done[work->owner] < work->limit)
        work->limit = job->done[work->owner];
    if (s->collective) {
        MPI_Allreduce(MPI_IN_PLACE, &work->limit, 1, MPI_INT64_T, MPI_MIN, job->team.comm);
    }
    int64_t bytes = s->transfer * work->plan.pieces;
    char *filled = work->step == STEP_WRITE ? job->buffer : job->expected;
    if (work->step == STEP_WRITE || is_check(work->step))
        for (int64_t p = 0; p < work->plan.pieces; p++)
            pattern_fill(s, work->owner, filled + p * s->transfer, bytes / work->plan.pieces);
}

static void barrier_if(const Job *job)
{
    if (job->settings->barriers)
        MPI_Barrier(job->team.comm);
}

static Outcome reduce(Work *work)
{
    Job *job = work->job;
    MPI_Comm comm = job->team.comm;
    const Settings *s = job->settings;
    Clocks *c = &work->clocks;
    int64_t piece = s->transfer * work->plan.pieces;
    double mean_latency = work->moved > 0 ? (c->move_stop - c->move_start) / (double)work->moved : INFINITY;
    double early[4] = {c->open_start, c->move_start, c->close_start, mean_latency};
    double late[3] = {c->open_stop, c->move_stop, c->close_stop};
    double wall[2] = {work->wall, (double)(work->at_wall * piece)};
    int64_t sums[2] = {work->moved * piece, work->errors}, fewest = work->at_wall, most = work->at_wall;
    Outcome o = {.step = work->step, .repetition = job->repetition};
    o.seconds = spread_over_ranks(c->close_stop - c->open_start, comm);
    MPI_Allreduce(MPI_IN_PLACE, early, 4, MPI_DOUBLE, MPI_MIN, comm);
    MPI_Allreduce(MPI_IN_PLACE, late, 3, MPI_DOUBLE, MPI_MAX, comm);
    MPI_Allreduce(MPI_IN_PLACE, sums, 2, MPI_INT64_T, MPI_SUM, comm);
    MPI_Allreduce(MPI_IN_PLACE, &fewest, 1, MPI_INT64_T, MPI_MIN, comm);
    MPI_Allreduce(MPI_IN_PLACE, &most, 1, MPI_INT64_T, MPI_MAX, comm);
    MPI_Allreduce(MPI_IN_PLACE, &wall[0], 1, MPI_DOUBLE, MPI_MAX, comm);
    MPI_Allreduce(MPI_IN_PLACE, &wall[1], 1, MPI_DOUBLE, MPI_SUM, comm);
    o.bytes = sums[0];
    o.errors = sums[1];
    o.fewest = fewest;
    o.most = most;
    o.open = late[0] - early[0];
    o.move = late[1] - early[1];
    o.close = late[2] - early[2];
    o.total = late[2] - early[0];
    o.bandwidth = (double)o.bytes / o.total;
    o.per_second = (double)o.bytes / (double)s->transfer / o.move;
    o.latency = early[3];
    if (s->deadline > 0) {
        o.wall_seconds = wall[0];
        o.wall_bytes = wall[1] / job->team.tasks;
    }
    return o;
}

/* Drops the files that this task reads and wrote from the page cache of all nodes: a node may hold what its
 * tasks read before or wrote. With a file per task these are two files. */
static void forget(const Work *work)
{
    Job *job = work->job;
    char written[PATH_MAX];
    phase_path(job, job->team.rank, written, sizeof written);
    if (job->settings->own_file)
        page_cache_forget_everywhere(written, job->team.comm, &job->cached);
    page_cache_forget_everywhere(work->target.path, job->team.comm, &job->cached);
}

Outcome phase_run(Job *job, Step step, Clocks *mine, Trouble *trouble)
{
    char path[PATH_MAX];
    Work work = {.job = job, .step = step};
    work.owner = plan_partner(job->settings, &job->team, step, job->repetition);
    prepare(&work, path, sizeof path);
    if (job->settings->cold && step == STEP_READ)
        forget(&work);
    MPI_Barrier(job->team.comm);
    work.clocks.open_start = MPI_Wtime();
    work.file = job->api->open(&work.target, trouble);
    work.clocks.open_stop = MPI_Wtime();
    bool opened = !trouble_shared(trouble, job->team.comm);
    barrier_if(job);
    if (opened) {
        transfers(&work, trouble);
        if (job->settings->sync && step == STEP_WRITE && !trouble->any)
            job->api->sync(work.file, &work.target, trouble);
        work.clocks.move_stop = MPI_Wtime();
    }
    barrier_if(job);
    work.clocks.close_start = MPI_Wtime();
    job->api->close(work.file, &work.target, trouble);
    work.clocks.close_stop = MPI_Wtime();
    Outcome outcome = reduce(&work);
    if (step == STEP_WRITE) {
        int64_t mine_done = work.moved < work.plan.count ? work.moved : work.plan.count;
        MPI_Allgather(&mine_done, 1, MPI_INT64_T, job->done, 1, MPI_INT64_T, job->team.comm);
    }
    if (work.target.effective.count > 0)
        job->effective = work.target.effective;
    plan_free(&work.plan);
    *mine = work.clocks;
    return outcome;
}
