/* Collective calls that return when they are complete. */
#include "why_kinds.h"

#include <stdio.h>
#include <stdlib.h>

/* Ranks 0 and 1 exchange, ranks 2 and 3 too; rank 3 is late. */
static void sparse_alltoallv(void)
{
    int counts[RANKS] = {0}, starts[RANKS] = {0};
    counts[kind_rank ^ 1] = 1000;
    if (rank_is(3))
        planted_delay(0);
    MPI_Alltoallv(kind_sent, counts, starts, MPI_CHAR, kind_received, counts, starts, MPI_CHAR,
                  MPI_COMM_WORLD);
    work(rank_is(2) ? 500 : 0);
}

static void scatterv_late_root(void)
{
    int counts[] = {100, 200, 300, 400}, starts[] = {0, 100, 300, 600};
    if (rank_is(2))
        planted_delay(0);
    MPI_Scatterv(kind_sent, counts, starts, MPI_CHAR, kind_received, counts[kind_rank], MPI_CHAR, 2,
                 MPI_COMM_WORLD);
    work(rank_is(0) ? 400 : 0);
}

static void gatherv_late_leaf(void)
{
    int counts[] = {100, 200, 300, 400}, starts[] = {0, 100, 300, 600};
    if (rank_is(1))
        planted_delay(0);
    MPI_Gatherv(kind_sent, counts[kind_rank], MPI_CHAR, kind_received, counts, starts, MPI_CHAR, 0,
                MPI_COMM_WORLD);
    work(rank_is(0) ? 400 : 0);
}

static void reduce_scatter_late(void)
{
    if (rank_is(1))
        planted_delay(0);
    MPI_Reduce_scatter_block(kind_sent, kind_received, 1000, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    work(rank_is(0) ? 400 : 100);
}

/* A prefix of lower ranks: rank 0 waits for nobody. */
static void exscan_late_middle(void)
{
    if (rank_is(2))
        planted_delay(0);
    MPI_Exscan(kind_sent, kind_received, 10, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    work(rank_is(0) ? 1700 : rank_is(3) ? 300 : 0);
}

static void dup_late(void)
{
    MPI_Comm copy;
    if (rank_is(3))
        planted_delay(0);
    MPI_Comm_dup(MPI_COMM_WORLD, &copy);
    work(200);
    MPI_Comm_free(&copy);
}

static void group_late(void)
{
    MPI_Group all, some;
    MPI_Comm three;
    int members[] = {0, 1, 2};
    MPI_Comm_group(MPI_COMM_WORLD, &all);
    MPI_Group_incl(all, 3, members, &some);
    if (rank_is(1))
        planted_delay(0);
    if (kind_rank < 3) {
        MPI_Comm_create_group(MPI_COMM_WORLD, some, 4, &three);
        MPI_Barrier(three);
        MPI_Comm_free(&three);
    }
    work(rank_is(0) ? 500 : 100);
}

static void posted_dup_late(void)
{
    MPI_Comm copy;
    MPI_Request request;
    if (rank_is(2))
        planted_delay(0);
    MPI_Comm_idup(MPI_COMM_WORLD, &copy, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    work(200);
    MPI_Comm_free(&copy);
}

/* The file lies outside of the slow storage. */
static MPI_File shared_file(void)
{
    MPI_File file;
    MPI_File_open(MPI_COMM_WORLD, "together", MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file);
    return file;
}

static void file_open_late(void)
{
    if (rank_is(2))
        planted_delay(0);
    MPI_File file = shared_file();
    work(300);
    MPI_File_close(&file);
}

static void file_write_all_late(void)
{
    MPI_File file = shared_file();
    if (rank_is(1))
        planted_delay(0);
    MPI_File_write_at_all(file, (MPI_Offset)kind_rank * 1000, kind_sent, 1000, MPI_CHAR, MPI_STATUS_IGNORE);
    work(300);
    MPI_File_close(&file);
}

static void file_posted_write_late(void)
{
    MPI_File file = shared_file();
    MPI_Request request;
    if (rank_is(0))
        planted_delay(0);
    MPI_File_iwrite_at_all(file, (MPI_Offset)kind_rank * 1000, kind_sent, 1000, MPI_CHAR, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    work(300);
    MPI_File_close(&file);
}

/* Every rank is late once, one after the other, and the steps are in step by a reduction to alternating
 * roots. */
static void late_in_turn(void)
{
    double mine = 1, sum;
    for (int step = 0; step < RANKS; step++) {
        if (rank_is(step))
            planted_delay(step);
        MPI_Reduce(&mine, &sum, 1, MPI_DOUBLE, MPI_SUM, step, MPI_COMM_WORLD);
        MPI_Bcast(&sum, 1, MPI_DOUBLE, step, MPI_COMM_WORLD);
    }
}

static void finalize_late(void)
{
    if (rank_is(2))
        planted_delay(0);
}

/* Half of the delay is hidden behind what the others compute. */
static void half_hidden(void)
{
    if (rank_is(1))
        planted_delay(0);
    else
        work(600);
    MPI_Allgather(kind_sent, 100, MPI_CHAR, kind_received, 100, MPI_CHAR, MPI_COMM_WORLD);
    work(100);
}

const struct why_kind collective_kinds[] = {{"sparse_alltoallv", sparse_alltoallv},
                                            {"scatterv_late_root", scatterv_late_root},
                                            {"gatherv_late_leaf", gatherv_late_leaf},
                                            {"reduce_scatter_late", reduce_scatter_late},
                                            {"exscan_late_middle", exscan_late_middle},
                                            {"dup_late", dup_late},
                                            {"group_late", group_late},
                                            {"posted_dup_late", posted_dup_late},
                                            {"file_open_late", file_open_late},
                                            {"file_write_all_late", file_write_all_late},
                                            {"file_posted_write_late", file_posted_write_late},
                                            {"late_in_turn", late_in_turn},
                                            {"finalize_late", finalize_late},
                                            {"half_hidden", half_hidden},
                                            {NULL, NULL}};
