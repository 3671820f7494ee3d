/* Makes messages and collective calls of many kinds, whose parts `iolens run --why` must match: `MESSAGES n`
 * and `COLLECTIVES n` give their numbers, with MPI_Init and MPI_Finalize among the collective calls; `EPOCHS
 * n` counts pairs of a post and a start. */
#include <mpi.h>
#include <stdio.h>

enum { ROUNDS = 3, TAG = 5, BIG = 1 << 20 };

static char big[BIG], into[BIG];
static int rank, ranks, messages, collectives, epochs;

static void ring(MPI_Comm comm)
{
    int right = (rank + 1) % ranks, left = (rank + ranks - 1) % ranks;
    MPI_Request requests[2];
    MPI_Irecv(into, BIG, MPI_CHAR, MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &requests[0]);
    MPI_Isend(big, BIG, MPI_CHAR, right, TAG, comm, &requests[1]);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    MPI_Sendrecv(big, 3, MPI_CHAR, right, 1, into, 3, MPI_CHAR, left, 1, comm, MPI_STATUS_IGNORE);
    MPI_Irecv(into, 1, MPI_CHAR, left, 2, comm, &requests[0]);
    MPI_Ssend(big, 1, MPI_CHAR, right, 2, comm);
    MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
    messages += 3 * ranks;
}

static void persistent(MPI_Comm comm)
{
    enum { REQUESTS = 5 };
    MPI_Request requests[REQUESTS];
    MPI_Recv_init(into, 4, MPI_CHAR, (rank + ranks - 1) % ranks, 3, comm, &requests[0]);
    MPI_Send_init(big, 4, MPI_CHAR, (rank + 1) % ranks, 3, comm, &requests[1]);
    MPI_Recv_init(into + 8, 4, MPI_CHAR, MPI_ANY_SOURCE, 4, comm, &requests[2]);
    MPI_Ssend_init(big, 4, MPI_CHAR, (rank + 1) % ranks, 4, comm, &requests[3]);
    MPI_Recv_init(into + 16, 4, MPI_CHAR, MPI_PROC_NULL, 3, comm, &requests[4]);
    for (int i = 0; i < ROUNDS; i++) {
        MPI_Startall(REQUESTS, requests);
        MPI_Waitall(REQUESTS, requests, MPI_STATUSES_IGNORE);
    }
    for (int i = 0; i < REQUESTS; i++)
        MPI_Request_free(&requests[i]);
    messages += 2 * ROUNDS * ranks;
#if MPI_VERSION >= 4
    MPI_Barrier_init(comm, MPI_INFO_NULL, &requests[0]);
    for (int i = 0; i < ROUNDS; i++) {
        MPI_Start(&requests[0]);
        MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
    }
    MPI_Request_free(&requests[0]);
    collectives += ROUNDS;
#endif
}

/* Lets rank 0 receive the messages of all others in the order of arrival, after a probe. */
static void gathered(MPI_Comm comm)
{
    MPI_Status status;
    MPI_Message message;
    for (int i = 1; rank == 0 && i < ranks; i++) {
        MPI_Probe(MPI_ANY_SOURCE, 6, comm, &status);
        MPI_Recv(into, 9, MPI_CHAR, status.MPI_SOURCE, 6, comm, MPI_STATUS_IGNORE);
        MPI_Mprobe(MPI_ANY_SOURCE, 7, comm, &message, &status);
        MPI_Mrecv(into, 9, MPI_CHAR, &message, MPI_STATUS_IGNORE);
    }
    if (rank > 0) {
        MPI_Send(big, 9, MPI_CHAR, 0, 6, comm);
        MPI_Send(big, 9, MPI_CHAR, 0, 7, comm);
    }
    messages += 2 * (ranks - 1);
}

static void together(MPI_Comm comm)
{
    int one = 1, sum;
    MPI_Request request;
    MPI_Barrier(comm);
    MPI_Bcast(&one, 1, MPI_INT, 1, comm);
    MPI_Reduce(&one, &sum, 1, MPI_INT, MPI_SUM, 0, comm);
    MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm);
    MPI_Scan(&one, &sum, 1, MPI_INT, MPI_SUM, comm);
    MPI_Iallreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Ibarrier(comm, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    collectives += 7;
}

static void write_together(MPI_Comm comm)
{
    MPI_File file;
    MPI_File_open(comm, "together", MPI_MODE_CREATE | MPI_MODE_WRONLY, MPI_INFO_NULL, &file);
    MPI_File_write_at_all(file, rank * 8, big, 8, MPI_CHAR, MPI_STATUS_IGNORE);
    MPI_File_close(&file);
    collectives += 3;
}

/* Lets each rank write into the memory of the next one, in all three ways: with fences, with post and start,
 * and with locks. */
static void one_sided(void)
{
    static char memory[8];
    int right = (rank + 1) % ranks, left = (rank + ranks - 1) % ranks;
    MPI_Win window;
    MPI_Group all, origin, target;
    MPI_Win_create(memory, sizeof memory, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &window);
    MPI_Win_fence(0, window);
    MPI_Put(big, 8, MPI_CHAR, right, 0, 8, MPI_CHAR, window);
    MPI_Win_fence(0, window);
    MPI_Win_get_group(window, &all);
    MPI_Group_incl(all, 1, &left, &origin);
    MPI_Group_incl(all, 1, &right, &target);
    for (int i = 0; i < ROUNDS; i++) {
        MPI_Win_post(origin, 0, window);
        MPI_Win_start(target, 0, window);
        MPI_Put(big, 8, MPI_CHAR, right, 0, 8, MPI_CHAR, window);
        MPI_Win_complete(window);
        MPI_Win_wait(window);
    }
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, right, 0, window);
    MPI_Put(big, 8, MPI_CHAR, right, 0, 8, MPI_CHAR, window);
    MPI_Win_unlock(right, window);
    MPI_Win_lock_all(0, window);
    MPI_Win_unlock_all(window);
    MPI_Win_free(&window);
    epochs += ROUNDS * ranks;
    collectives += 4;
}

int main(int argc, char **argv)
{
    MPI_Comm twin, other, half;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    MPI_Comm_dup(MPI_COMM_WORLD, &twin);
    MPI_Comm_dup(MPI_COMM_WORLD, &other);
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, -rank, &half);
    /* The order in which rank 0 first uses the two duplicates differs from that of the other ranks. */
    MPI_Request requests[2];
    if (rank == 0) {
        MPI_Isend(big, 1, MPI_CHAR, 1, 8, other, &requests[0]);
        MPI_Isend(big, 1, MPI_CHAR, 1, 8, twin, &requests[1]);
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    } else if (rank == 1) {
        MPI_Recv(into, 1, MPI_CHAR, 0, 8, twin, MPI_STATUS_IGNORE);
        MPI_Recv(into, 1, MPI_CHAR, 0, 8, other, MPI_STATUS_IGNORE);
    }
    messages += 2;
    ring(twin);
    ring(other);
    persistent(MPI_COMM_WORLD);
    gathered(twin);
    together(other);
    MPI_Barrier(half);
    write_together(twin);
    one_sided();
    collectives += 3 + 2 + 2;
    if (rank == 0)
        printf("MESSAGES %d\nCOLLECTIVES %d\nEPOCHS %d\n", messages, collectives, epochs);
    MPI_Finalize();
    return 0;
}
