/* Plans which bytes of the file each task writes or reads, in which order, and whose data it reads. */
#ifndef IOR_PLAN_H
#define IOR_PLAN_H

#include "settings.h"

/* The tasks of a test and where they run. */
typedef struct Team {
    MPI_Comm comm; /* MPI_COMM_NULL on ranks that stay idle. */
    int rank, tasks, nodes, per_node;
    bool by_block; /* True if consecutive ranks share a node. */
} Team;

/* Chooses the ranks that take part as tasks, and finds their nodes. Collective over `all`. */
Team team_make(const Settings *settings, MPI_Comm all);
void team_free(Team *team);

/* Transfers of one task. With the option -S there is a single transfer, of one piece in each segment. */
typedef struct Plan {
    const Settings *settings;
    int64_t count, pieces;
    int sharers;
    int64_t *order; /* Numbers of the transfers in the order of their execution; NULL: in the order of the
                     * file. */
} Plan;

Plan plan_make(const Settings *settings, int sharers, int place);
void plan_free(Plan *plan);

/* Returns the file offset of piece `piece` of transfer `i`, for the task with the number `place` among the
 * tasks that share the file. */
int64_t plan_offset(const Plan *plan, int64_t i, int64_t piece, int place);

typedef enum { STEP_WRITE, STEP_CHECK_WRITE, STEP_READ, STEP_CHECK_READ } Step;

/* Returns the number of the task whose data this task writes or reads in a step of a repetition.
 * Collective. */
int plan_partner(const Settings *settings, const Team *team, Step step, int repetition);

#endif
