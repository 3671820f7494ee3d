/* A tool behind the others on MPI's profiling interface: in MPI_Finalize it prints how often this rank asked
 * windows for their groups. */
#include <mpi.h>
#include <stdio.h>

static int groups;

/* Counts a call of the profiler and passes it on to MPI_Win_get_group, another name of the library's own
 * definition. */
int PMPI_Win_get_group(MPI_Win win, MPI_Group *group)
{
    groups++;
    return MPI_Win_get_group(win, group);
}

int MPI_Finalize(void)
{
    printf("tool: %d groups\n", groups);
    fflush(stdout);
    return PMPI_Finalize();
}
