/* The bytes of the file that a task moves, their order, and the task whose data it reads. */
#ifndef IOR_PLAN_H
#define IOR_PLAN_H

#include "settings.h"

/* The tasks of a test and where they run. */
typedef struct Team {
    MPI_Comm comm; /* MPI_COMM_NULL on ranks that stay idle. */
    int rank, tasks, nodes, per_node;
    bool by_block; /* True if consecutive ranks share a node. */
} Team;

/* Assigns the tasks. Collective over `all`. */
Team team_make(const Settings *settings, MPI_Comm all);
void team_free(Team *team);

/* Transfers of one task; with -S there is one, of `pieces` segments. */
typedef struct Plan {
    const Settings *settings;
    int64_t count, pieces;
    int sharers;
    int64_t *order; /* Order of the transfers; NULL: the order of the file. */
} Plan;

Plan plan_make(const Settings *settings, int sharers, int place);
void plan_free(Plan *plan);

/* Returns the place in the file of piece `piece` of transfer `i` of the task at `place`. */
int64_t plan_offset(const Plan *plan, int64_t i, int64_t piece, int place);

typedef enum { STEP_WRITE, STEP_CHECK_WRITE, STEP_READ, STEP_CHECK_READ } Step;

/* Returns the task whose data this one moves in this step of repetition `repetition`. Collective. */
int plan_partner(const Settings *settings, const Team *team, Step step, int repetition);

#endif
