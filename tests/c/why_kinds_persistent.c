/* Persistent and partitioned operations. */
#include "why_kinds.h"

/* Persistent collective and partitioned calls are of MPI 4; Open MPI 5 has them too. */
#if MPI_VERSION >= 4 || (defined OMPI_MAJOR_VERSION && OMPI_MAJOR_VERSION >= 5)
#define HAS_MPI_4 1
#else
#define HAS_MPI_4 0
#endif

static MPI_Request request;

static void finish(void)
{
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Request_free(&request);
}

/* Rank 0 sends to rank 1, which receives late, and then both compute. */
static void send_to_late(int bytes, bool is_synchronous)
{
    if (rank_is(0)) {
        (is_synchronous ? MPI_Ssend_init : MPI_Send_init)(kind_sent, bytes, MPI_CHAR, 1, 0, MPI_COMM_WORLD,
                                                          &request);
        MPI_Start(&request);
        finish();
        work(1600);
    } else if (rank_is(1)) {
        planted_delay(0);
        MPI_Recv(kind_received, bytes, MPI_CHAR, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        work(100);
    }
}

static void small_to_late(void) { send_to_late(SMALL, false); }

static void large_to_late(void) { send_to_late(LARGE, false); }

static void synchronous_to_late(void) { send_to_late(SMALL, true); }

static void receive_from_late(void)
{
    if (rank_is(1)) {
        MPI_Recv_init(kind_received, SMALL, MPI_CHAR, 0, 0, MPI_COMM_WORLD, &request);
        MPI_Start(&request);
        finish();
        work(400);
    } else if (rank_is(0)) {
        planted_delay(0);
        MPI_Send(kind_sent, SMALL, MPI_CHAR, 1, 0, MPI_COMM_WORLD);
    }
}

/* A ring of persistent requests, started together three times. */
static void ring(int bytes)
{
    MPI_Request both[2];
    MPI_Recv_init(kind_received, bytes, MPI_CHAR, (kind_rank + RANKS - 1) % RANKS, 0, MPI_COMM_WORLD,
                  &both[0]);
    MPI_Send_init(kind_sent, bytes, MPI_CHAR, (kind_rank + 1) % RANKS, 0, MPI_COMM_WORLD, &both[1]);
    for (int step = 0; step < 3; step++) {
        work(50);
        if (rank_is(2) && step == 1)
            planted_delay(0);
        MPI_Startall(2, both);
        MPI_Waitall(2, both, MPI_STATUSES_IGNORE);
    }
    MPI_Request_free(&both[0]);
    MPI_Request_free(&both[1]);
    work(rank_is(0) ? 700 : 0);
}

static void small_ring(void) { ring(SMALL); }

static void large_ring(void) { ring(LARGE); }

/* The same request sends ten small messages to a rank that is late for the first. */
static void ten_to_late(void)
{
    for (int i = 0; i < 10 && rank_is(0); i++) {
        if (i == 0)
            MPI_Send_init(kind_sent, SMALL, MPI_CHAR, 1, 0, MPI_COMM_WORLD, &request);
        MPI_Start(&request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    if (rank_is(0)) {
        MPI_Request_free(&request);
        work(1600);
    }
    if (rank_is(1))
        planted_delay(0);
    for (int i = 0; i < 10 && rank_is(1); i++)
        MPI_Recv(kind_received, SMALL, MPI_CHAR, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

#if HAS_MPI_4
static void barrier_late(void)
{
    MPI_Barrier_init(MPI_COMM_WORLD, MPI_INFO_NULL, &request);
    if (rank_is(2))
        planted_delay(0);
    MPI_Start(&request);
    finish();
    work(200);
}

static void bcast_absent(void)
{
    MPI_Bcast_init(kind_sent, LARGE, MPI_CHAR, 0, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
    MPI_Start(&request);
    if (rank_is(2))
        planted_delay(0);
    finish();
    work(rank_is(3) ? 1300 : 0);
}

static void allreduce_late(void)
{
    MPI_Allreduce_init(kind_sent, kind_received, 100, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL,
                       &request);
    if (rank_is(0))
        planted_delay(0);
    MPI_Start(&request);
    finish();
    work(200);
}

static void partitioned_late(void)
{
    if (rank_is(0)) {
        MPI_Psend_init(kind_sent, 4, 1000, MPI_CHAR, 1, 0, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
        MPI_Start(&request);
        for (int part = 0; part < 4; part++) {
            if (part == 3)
                planted_delay(0);
            MPI_Pready(part, request);
        }
        finish();
    } else if (rank_is(1)) {
        MPI_Precv_init(kind_received, 4, 1000, MPI_CHAR, 0, 0, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
        MPI_Start(&request);
        finish();
        work(500);
    }
}
#endif

const struct why_kind persistent_kinds[] = {{"persistent_small_to_late", small_to_late},
                                            {"persistent_large_to_late", large_to_late},
                                            {"persistent_ssend_to_late", synchronous_to_late},
                                            {"persistent_from_late", receive_from_late},
                                            {"persistent_small_ring", small_ring},
                                            {"persistent_large_ring", large_ring},
                                            {"persistent_ten_to_late", ten_to_late},
#if HAS_MPI_4
                                            {"persistent_barrier_late", barrier_late},
                                            {"persistent_bcast_absent", bcast_absent},
                                            {"persistent_allreduce_late", allreduce_late},
                                            {"partitioned_late", partitioned_late},
#endif
                                            {NULL, NULL}};
