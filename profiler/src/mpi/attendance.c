#include "attendance.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "core.h"
#include "handles.h"

/* If a rank gives up in the first round, it takes no part in the second, which then fails on all other ranks.
 * The second round waits longer than the first, because ranks may begin it at different times. */
enum { ROUNDS = 2, PATIENCE_SECONDS = 60, PATIENCE_AT_END_SECONDS = 600 };

/* Values that all ranks combine in one round; MPI may still use them after this rank has given up. */
struct round {
    int64_t recorded; /* Minimum over the ranks: 1 if all ranks are recorded. */
    int64_t first;    /* Minimum over the ranks: the first recorded rank. */
};
static struct round at_begin[ROUNDS], at_end[ROUNDS];

/* Combines the values of all ranks, and returns true if all took part within some seconds. Only non-blocking
 * calls let a rank continue without the others. */
static bool meet(struct round *round, double seconds)
{
    MPI_Request request;
    int met = 0;
    double end = pmpi.Wtime() + seconds;
    if (pmpi.Iallreduce(MPI_IN_PLACE, round, sizeof *round / sizeof(int64_t), mpi.int64, mpi.min, mpi.world,
                        &request) != MPI_SUCCESS)
        return false;
    while (!met && pmpi.Wtime() < end)
        if (pmpi.Test(&request, &met, MPI_STATUS_IGNORE) != MPI_SUCCESS)
            return false;
    return met;
}

/* Combines a value of all ranks in all rounds; returns true if all ranks took part in each. */
static bool meet_always(struct round rounds[ROUNDS], struct round mine, int patience)
{
    bool met = true;
    for (int i = 0; met && i < ROUNDS; i++) {
        rounds[i] = mine;
        met = meet(&rounds[i], (i + 1) * patience);
    }
    return met;
}

static void tell(const char *sentence)
{
    if (iolens_tell)
        iolens_tell(sentence);
}

/* Returns true if the job is known to have only one program; Open MPI's launchers say how many it has. */
static bool is_one_program(void)
{
    const char *programs = getenv("OMPI_NUM_APP_CTX");
    return programs && strcmp(programs, "1") == 0;
}

static bool are_neighbours_recorded(int size)
{
    return size == 1 || is_one_program() || !iolens_neighbours_are_recorded ||
           iolens_neighbours_are_recorded();
}

static bool say_incomplete(bool says)
{
    if (says)
        tell("some ranks of the job run without the profiler; each of the others writes a log of its own, "
             "without MPI. If they are on other hosts, the launcher did not hand on LD_PRELOAD and the "
             "variables IOLENS_*; with Open MPI, each needs an option: mpirun -x LD_PRELOAD");
    return false;
}

/* Returns true if all ranks of the job are recorded, which they find out in rounds of collective calls. The
 * program of a rank without the library could make a non-blocking collective call that MPI matches with a
 * round. To avoid that, the processes of this node are examined first. */
bool attendance_is_complete(bool recorded)
{
    int rank, size;
    pmpi.Comm_rank(mpi.world, &rank);
    pmpi.Comm_size(mpi.world, &size);
    if (!are_neighbours_recorded(size))
        return say_incomplete(rank == 0 || rank == size - 1);
    if (meet_always(at_begin, (struct round){recorded, recorded ? rank : size}, PATIENCE_SECONDS))
        return at_begin[0].recorded || say_incomplete(at_begin[0].first == rank);
    /* If some ranks take no part, the others cannot agree on who prints the message. The first and the last
     * rank print it: in a job of two programs, each program has one of them. */
    if (rank == 0 || rank == size - 1)
        tell("some ranks of the job did not answer within a minute, as if their program ran without the "
             "profiler's MPI adapter; each of the others writes a log of its own, without MPI. `iolens "
             "run --apart` does so without waiting");
    return false;
}

void attendance_wait(void)
{
    static struct round waiting;
    meet(&waiting, HUGE_VAL);
}

bool attendance_ends(void) { return meet_always(at_end, (struct round){0}, PATIENCE_AT_END_SECONDS); }
