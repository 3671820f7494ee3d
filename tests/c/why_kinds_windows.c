/* One-sided communication. */
#include "why_kinds.h"

#include <string.h>

static char *exposed;

static MPI_Win window(void)
{
    MPI_Win win;
    MPI_Win_allocate(LARGE, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &exposed, &win);
    return win;
}

/* The target is outside of MPI; a library without hardware may need it to answer. */
static void put_absent_target(void)
{
    MPI_Win win = window();
    if (rank_is(0)) {
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 1, 0, win);
        MPI_Put(kind_sent, LARGE, MPI_CHAR, 1, 0, LARGE, MPI_CHAR, win);
        MPI_Win_unlock(1, win);
        work(700);
    } else if (rank_is(1)) {
        planted_delay(0);
    }
    MPI_Win_free(&win);
}

static void accumulate_absent_target(void)
{
    MPI_Win win = window();
    if (rank_is(0)) {
        MPI_Win_lock(MPI_LOCK_SHARED, 1, 0, win);
        MPI_Accumulate(kind_sent, 1000, MPI_DOUBLE, 1, 0, 1000, MPI_DOUBLE, MPI_SUM, win);
        MPI_Win_flush(1, win);
        MPI_Win_unlock(1, win);
        work(700);
    } else if (rank_is(1)) {
        planted_delay(0);
    }
    MPI_Win_free(&win);
}

static void rget_absent_target(void)
{
    MPI_Win win = window();
    MPI_Request request;
    MPI_Win_lock_all(0, win);
    if (rank_is(2)) {
        MPI_Rget(kind_received, LARGE, MPI_CHAR, 3, 0, LARGE, MPI_CHAR, win, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        work(700);
    } else if (rank_is(3)) {
        planted_delay(0);
    }
    MPI_Win_unlock_all(win);
    MPI_Win_free(&win);
}

static void fence_late(void)
{
    MPI_Win win = window();
    MPI_Win_fence(0, win);
    if (rank_is(3))
        planted_delay(0);
    MPI_Get(kind_received, 1000, MPI_CHAR, (kind_rank + 1) % RANKS, 0, 1000, MPI_CHAR, win);
    MPI_Win_fence(0, win);
    work(200);
    MPI_Win_free(&win);
}

/* A counter on rank 0 that all ranks raise in turn, in numbers that they wait for with reads. */
static void turns_by_counter(void)
{
    MPI_Win win = window();
    int one = 1, turn = 0;
    memset(exposed, 0, sizeof turn);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock_all(0, win);
    do {
        MPI_Fetch_and_op(NULL, &turn, MPI_INT, 0, 0, MPI_NO_OP, win);
        MPI_Win_flush(0, win);
    } while (turn != kind_rank);
    if (rank_is(1))
        planted_delay(0);
    work(100);
    MPI_Fetch_and_op(&one, &turn, MPI_INT, 0, 0, MPI_SUM, win);
    MPI_Win_flush(0, win);
    MPI_Win_unlock_all(win);
    MPI_Win_free(&win);
}

/* Ranks of a node that wait for a word of shared memory. */
static void shared_memory_flag(void)
{
    MPI_Win win;
    volatile int *flag;
    MPI_Aint size;
    int unit;
    MPI_Win_allocate_shared(rank_is(0) ? sizeof *flag : 0, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &flag, &win);
    MPI_Win_shared_query(win, 0, &size, &unit, &flag);
    if (rank_is(0))
        *flag = 0;
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock_all(0, win);
    if (rank_is(0)) {
        planted_delay(0);
        *flag = 1;
    }
    while (*flag == 0) {
        work(1);
        MPI_Win_sync(win);
    }
    MPI_Win_unlock_all(win);
    work(rank_is(1) ? 500 : 0);
    MPI_Win_free(&win);
}

static void create_late(void)
{
    if (rank_is(2))
        planted_delay(0);
    MPI_Win win = window();
    work(200);
    MPI_Win_free(&win);
}

const struct why_kind window_kinds[] = {
    {"put_absent_target", put_absent_target},      {"accumulate_absent_target", accumulate_absent_target},
    {"rget_absent_target", rget_absent_target},    {"window_fence_late", fence_late},
    {"window_turns_by_counter", turns_by_counter}, {"window_shared_flag", shared_memory_flag},
    {"window_create_late", create_late},           {NULL, NULL}};
