#include <stdlib.h>

#include "test.h"

Team team_make(const Settings *settings, MPI_Comm all)
{
    Team team = {0};
    MPI_Comm node;
    int everyone, first_two = 0;
    MPI_Comm_rank(all, &everyone);
    MPI_Comm_split(all, everyone < settings->tasks ? 0 : MPI_UNDEFINED, everyone, &team.comm);
    if (team.comm == MPI_COMM_NULL)
        return team;
    MPI_Comm_rank(team.comm, &team.rank);
    MPI_Comm_size(team.comm, &team.tasks);
    MPI_Comm_split_type(team.comm, MPI_COMM_TYPE_SHARED, team.rank, MPI_INFO_NULL, &node);
    MPI_Comm_size(node, &team.per_node);
    MPI_Bcast(&team.per_node, 1, MPI_INT, 0, team.comm);
    int lowest = team.rank;
    MPI_Bcast(&lowest, 1, MPI_INT, 0, node);
    first_two = team.rank == 1 ? lowest == 0 : 0;
    MPI_Allreduce(MPI_IN_PLACE, &first_two, 1, MPI_INT, MPI_MAX, team.comm);
    team.by_block = first_two != 0;
    MPI_Comm_free(&node);
    team.nodes = count_nodes(team.comm);
    return team;
}

void team_free(Team *team)
{
    if (team->comm != MPI_COMM_NULL)
        MPI_Comm_free(&team->comm);
}

/* Shuffles by the method of Fisher and Yates. */
static void shuffle(int64_t *list, int64_t count, unsigned seed)
{
    for (int64_t i = count - 1; i > 0; i--) {
        int64_t j = (int64_t)(((uint64_t)(unsigned)rand_r(&seed) << 31 | (unsigned)rand_r(&seed)) %
                              (uint64_t)(i + 1));
        int64_t kept = list[i];
        list[i] = list[j];
        list[j] = kept;
    }
}

Plan plan_make(const Settings *settings, int sharers, int place)
{
    int64_t transfers = settings->block / settings->transfer * settings->segments;
    Plan plan = {settings, transfers, 1, sharers, NULL};
    if (settings->strided) {
        plan.count = 1;
        plan.pieces = settings->segments;
    }
    if (settings->order_random == 0)
        return plan;
    unsigned seed = (unsigned)(settings->signature + place);
    plan.order = allocate((size_t)plan.count, sizeof *plan.order);
    for (int64_t i = 0; i < plan.count; i++)
        plan.order[i] = settings->order_random > 1
                            ? (int64_t)(((uint64_t)(unsigned)rand_r(&seed) << 31 | (unsigned)rand_r(&seed)) %
                                        (uint64_t)(transfers * sharers))
                            : i;
    if (settings->order_random == 1)
        shuffle(plan.order, plan.count, seed);
    return plan;
}

void plan_free(Plan *plan) { free(plan->order); }

int64_t plan_offset(const Plan *plan, int64_t i, int64_t piece, int place)
{
    const Settings *s = plan->settings;
    int64_t per_block = s->block / s->transfer;
    if (s->order_random > 1)
        return plan->order[i] * s->transfer;
    int64_t index = plan->order != NULL ? plan->order[i] : i;
    int64_t segment = s->strided ? piece : index / per_block;
    return (segment * plan->sharers + place) * s->block + (s->strided ? 0 : index % per_block * s->transfer);
}

/* Returns this task's entry in a random permutation of the tasks. Every task computes the same permutation,
 * from the seed. */
static int permuted(const Team *team, unsigned seed)
{
    int64_t *list = allocate((size_t)team->tasks, sizeof *list);
    for (int i = 0; i < team->tasks; i++)
        list[i] = i;
    shuffle(list, team->tasks, seed);
    int mine = (int)list[team->rank];
    free(list);
    return mine;
}

int plan_partner(const Settings *settings, const Team *team, Step step, int repetition)
{
    int seed = settings->seed < 0 ? repetition - settings->seed : settings->seed;
    if (step == STEP_WRITE)
        return team->rank;
    if (settings->shift_random > 1)
        return permuted(team, (unsigned)seed);
    if (settings->shift_random == 1) {
        unsigned state = (unsigned)(team->rank + seed);
        int offset = rand_r(&state) % team->tasks;
        while (team->nodes > 1 && offset < settings->task_offset * team->per_node &&
               team->tasks > team->per_node)
            offset = rand_r(&state) % team->tasks;
        return (team->rank + offset) % team->tasks;
    }
    if (!settings->shift)
        return team->rank;
    int unit = team->by_block ? team->per_node : 1;
    int steps = settings->task_offset + (step == STEP_CHECK_WRITE);
    return (team->rank + unit * steps) % team->tasks;
}
