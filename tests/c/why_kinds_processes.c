/* Processes that join a job while it runs. */
#include "why_kinds.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Starts one process of this program as `why_kinds child PART`. It has the emulated storage of the job, but
 * no profiler: CHILD_PRELOAD is its LD_PRELOAD. */
static MPI_Comm child(char *part)
{
    char program[4096] = "", preload[4096], folder[4096], mib[64];
    if (readlink("/proc/self/exe", program, sizeof program - 1) < 0)
        exit(1);
    snprintf(preload, sizeof preload, "LD_PRELOAD=%s", getenv("CHILD_PRELOAD"));
    snprintf(folder, sizeof folder, "DELAY_FOLDER=%s", getenv("DELAY_FOLDER"));
    snprintf(mib, sizeof mib, "DELAY_MIB=%s", getenv("DELAY_MIB"));
    char *words[] = {preload, folder, mib, program, (char[]){"child"}, part, NULL};
    MPI_Comm parents;
    MPI_Comm_spawn("env", words, 1, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &parents, MPI_ERRCODES_IGNORE);
    return parents;
}

static void child_sends_late(void)
{
    MPI_Comm other = child((char[]){"sends"});
    if (rank_is(0))
        MPI_Recv(kind_received, SMALL, MPI_CHAR, 0, 0, other, MPI_STATUS_IGNORE);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Comm_disconnect(&other);
}

static void child_starts_late(void)
{
    MPI_Comm other = child((char[]){"starts"});
    MPI_Comm_disconnect(&other);
}

static void child_leaves_late(void)
{
    MPI_Comm other = child((char[]){"leaves"});
    MPI_Comm_disconnect(&other);
    work(200);
}

static void child_in_barrier(void)
{
    MPI_Comm other = child((char[]){"barrier"}), all;
    MPI_Intercomm_merge(other, 0, &all);
    MPI_Barrier(all);
    MPI_Comm_disconnect(&other);
    work(200);
}

/* The parents are late, and the child waits for them: nobody waits for I/O of the child. */
static void parent_sends_late(void)
{
    MPI_Comm other = child((char[]){"receives"});
    if (rank_is(0)) {
        planted_delay(0);
        MPI_Send(kind_sent, SMALL, MPI_CHAR, 0, 0, other);
        MPI_Recv(kind_received, SMALL, MPI_CHAR, 0, 0, other, MPI_STATUS_IGNORE);
    }
    MPI_Comm_disconnect(&other);
}

static void late_connect(void)
{
    char port[MPI_MAX_PORT_NAME];
    MPI_Comm other;
    if (rank_is(0)) {
        MPI_Open_port(MPI_INFO_NULL, port);
        MPI_Send(port, MPI_MAX_PORT_NAME, MPI_CHAR, 1, 3, MPI_COMM_WORLD);
        MPI_Comm_accept(port, MPI_INFO_NULL, 0, MPI_COMM_SELF, &other);
    } else if (rank_is(1)) {
        MPI_Recv(port, MPI_MAX_PORT_NAME, MPI_CHAR, 0, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        planted_delay(0);
        MPI_Comm_connect(port, MPI_INFO_NULL, 0, MPI_COMM_SELF, &other);
    }
    work(rank_is(0) ? 500 : 100);
    if (kind_rank < 2)
        MPI_Comm_disconnect(&other);
}

bool kind_of_child(int argc, char **argv)
{
    if (argc < 3 || strcmp(argv[1], "child"))
        return false;
    const char *part = argv[2];
    MPI_Comm parents;
    if (strcmp(part, "starts") == 0)
        planted_delay(0);
    MPI_Init(&argc, &argv);
    MPI_Comm_get_parent(&parents);
    if (strcmp(part, "sends") == 0) {
        planted_delay(0);
        MPI_Send(kind_sent, SMALL, MPI_CHAR, 0, 0, parents);
    } else if (strcmp(part, "leaves") == 0) {
        planted_delay(0);
    } else if (strcmp(part, "barrier") == 0) {
        MPI_Comm all;
        MPI_Intercomm_merge(parents, 1, &all);
        planted_delay(0);
        MPI_Barrier(all);
    } else if (strcmp(part, "receives") == 0) {
        MPI_Recv(kind_received, SMALL, MPI_CHAR, 0, 0, parents, MPI_STATUS_IGNORE);
        MPI_Send(kind_sent, SMALL, MPI_CHAR, 0, 0, parents);
    }
    MPI_Comm_disconnect(&parents);
    MPI_Finalize();
    return true;
}

const struct why_kind process_kinds[] = {{"child_sends_late", child_sends_late},
                                         {"child_starts_late", child_starts_late},
                                         {"child_leaves_late", child_leaves_late},
                                         {"child_in_barrier", child_in_barrier},
                                         {"parent_sends_late", parent_sends_late},
                                         {"late_connect", late_connect},
                                         {NULL, NULL}};
