#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

#include "pattern.h"

/* Checks the file's size first, because an MPI library may read past the end of a file without an error. */
static void check_size(Pattern *pattern)
{
    const int *grid = pattern->domain->grid;
    struct stat found;
    long long least = (long long)POINT_BYTES * grid[0] * grid[1] * grid[2] * pattern->dumps;
    if (stat(pattern->path, &found) != 0)
        trouble_note(&pattern->trouble, "cannot read %s: %s; write it first", pattern->path, strerror(errno));
    else if (pattern->method->through_mpi && found.st_size < least)
        trouble_note(&pattern->trouble, "%s has %lld bytes; %d dumps are %lld", pattern->path,
                     (long long)found.st_size, pattern->dumps, least);
}

static void end_on_trouble(Pattern *pattern, bool writing)
{
    if (writing && pattern->trouble.any)
        trouble_add_space(&pattern->trouble, pattern->path);
    if (!trouble_shared(&pattern->trouble, pattern->domain->comm))
        return;
    if (writing && pattern->domain->rank == 0)
        unlink(pattern->path);
    fail(EXIT_FAILED, "%s", pattern->trouble.text);
}

static void prepare(Pattern *pattern, bool writing)
{
    pattern->calls = 0;
    pattern->setup_seconds = pattern->post_seconds = pattern->wait_seconds = 0.0;
    if (!writing) {
        pattern_spoil(pattern);
        check_size(pattern);
    } else {
        pattern_fill(pattern, 0);
        if (pattern->domain->rank == 0)
            unlink(pattern->path);
    }
    end_on_trouble(pattern, false);
}

/* Fills in the data of a dump before a write, or checks the data that was read. Returns the seconds that this
 * took, so that they can be excluded from the I/O time. Ends with a barrier. */
static double aside(const Pattern *pattern, bool writing, int dump, long long *wrong)
{
    double start = MPI_Wtime();
    if (writing)
        pattern_fill(pattern, dump);
    else
        *wrong += pattern_differences(pattern, dump);
    MPI_Barrier(pattern->domain->comm);
    return MPI_Wtime() - start;
}

/* Writes or reads all dumps and returns the seconds that this rank spent in I/O. */
static double move_dumps(Pattern *pattern, bool writing, bool check, long long *wrong)
{
    double left_out = 0.0;
    MPI_Barrier(pattern->domain->comm);
    double start = MPI_Wtime();
    pattern->method->open(pattern, writing);
    end_on_trouble(pattern, writing);
    pattern->setup_seconds = MPI_Wtime() - start;
    for (int d = 0; d < pattern->dumps; d++) {
        if (check && writing && d > 0)
            left_out += aside(pattern, writing, d, wrong);
        pattern->method->move(pattern, d, writing);
        if (check && !writing)
            left_out += aside(pattern, writing, d, wrong);
    }
    pattern->method->close(pattern);
    return MPI_Wtime() - start - left_out;
}

Operation pattern_operate(Pattern *pattern, bool writing, bool check)
{
    MPI_Comm comm = pattern->domain->comm;
    long long wrong = 0;
    prepare(pattern, writing);
    double seconds = move_dumps(pattern, writing, check, &wrong);
    end_on_trouble(pattern, writing);
    MPI_Allreduce(MPI_IN_PLACE, &wrong, 1, MPI_LONG_LONG, MPI_SUM, comm);
    return (Operation){
        .writing = writing,
        .total = spread_over_ranks(seconds, comm),
        .setup = spread_over_ranks(pattern->setup_seconds, comm),
        .post = spread_over_ranks(pattern->post_seconds, comm),
        .wait = spread_over_ranks(pattern->wait_seconds, comm),
        .transfer = spread_over_ranks(pattern->post_seconds + pattern->wait_seconds, comm),
        .calls = pattern->calls,
        .wrong = wrong,
    };
}
