#include <sched.h>
#include <stdlib.h>

#include "result.h"
#include "run.h"

enum { MOST = 8192 }; /* Largest number of processors of one node. */

static int processors_of(MPI_Comm node)
{
    size_t bytes = CPU_ALLOC_SIZE(MOST);
    cpu_set_t *mine = allocate(1, bytes), *all = allocate(1, bytes);
    sched_getaffinity(0, bytes, mine);
    MPI_Allreduce(mine, all, (int)bytes, MPI_BYTE, MPI_BOR, node);
    int count = CPU_COUNT_S(bytes, all);
    free(mine);
    free(all);
    return count;
}

Crowd crowd_of(MPI_Comm comm)
{
    Crowd crowd;
    MPI_Comm node;
    struct {
        double ratio;
        int rank;
    } mine, worst;
    MPI_Comm_rank(comm, &mine.rank);
    MPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
    MPI_Comm_size(node, &crowd.ranks);
    crowd.processors = processors_of(node);
    MPI_Comm_free(&node);
    mine.ratio = (double)crowd.ranks / crowd.processors;
    MPI_Allreduce(&mine, &worst, 1, MPI_DOUBLE_INT, MPI_MAXLOC, comm);
    int numbers[2] = {crowd.ranks, crowd.processors};
    MPI_Bcast(numbers, 2, MPI_INT, worst.rank, comm);
    return (Crowd){
        .ranks = numbers[0],
        .processors = numbers[1],
        .nodes = count_nodes(comm),
        .oversubscribed = worst.ratio > 1.0,
    };
}
