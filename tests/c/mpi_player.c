/* Makes the MPI calls of a list. Each line has the call, the ranks that send and receive, and the bytes. A
 * line of a collective call has the communicator (0: the world, 1: the half with this rank's parity) and the
 * root in place of the ranks. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 1 << 17, TAG = 7 };

static int rank, size;
static MPI_Comm comms[2];
static char *out, *in;

static void send(const char *call, int to, int bytes)
{
    MPI_Request request = MPI_REQUEST_NULL;
    if (strcmp(call, "Send") == 0)
        MPI_Send(out, bytes, MPI_BYTE, to, TAG, MPI_COMM_WORLD);
    else if (strcmp(call, "Ssend") == 0)
        MPI_Ssend(out, bytes, MPI_BYTE, to, TAG, MPI_COMM_WORLD);
    else if (strcmp(call, "Isend") == 0)
        MPI_Isend(out, bytes, MPI_BYTE, to, TAG, MPI_COMM_WORLD, &request);
    else
        MPI_Send_init(out, bytes, MPI_BYTE, to, TAG, MPI_COMM_WORLD, &request);
    if (strcmp(call, "Start") == 0)
        MPI_Start(&request);
    if (request == MPI_REQUEST_NULL)
        return;
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    if (strcmp(call, "Start") == 0)
        MPI_Request_free(&request);
}

static void message(const char *call, int from, int to, int bytes)
{
    MPI_Request request = MPI_REQUEST_NULL;
    if (strcmp(call, "Sendrecv") == 0) {
        if (rank == from || rank == to)
            MPI_Sendrecv(out, bytes, MPI_BYTE, from + to - rank, TAG, in, MOST, MPI_BYTE, from + to - rank,
                         TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        return;
    }
    if (rank == to)
        MPI_Irecv(in, MOST, MPI_BYTE, from, TAG, MPI_COMM_WORLD, &request);
    if (rank == from)
        send(call, to, bytes);
    if (rank == to)
        MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static void collective(const char *call, MPI_Comm comm, int root, int bytes)
{
    if (strcmp(call, "Bcast") == 0)
        MPI_Bcast(out, bytes, MPI_BYTE, root, comm);
    else if (strcmp(call, "Reduce") == 0)
        MPI_Reduce(out, in, bytes, MPI_BYTE, MPI_BOR, root, comm);
    else if (strcmp(call, "Allreduce") == 0)
        MPI_Allreduce(out, in, bytes, MPI_BYTE, MPI_BOR, comm);
    else if (strcmp(call, "Gather") == 0)
        MPI_Gather(out, bytes, MPI_BYTE, in, bytes, MPI_BYTE, root, comm);
    else if (strcmp(call, "Scatter") == 0)
        MPI_Scatter(out, bytes, MPI_BYTE, in, bytes, MPI_BYTE, root, comm);
    else if (strcmp(call, "Allgather") == 0)
        MPI_Allgather(out, bytes, MPI_BYTE, in, bytes, MPI_BYTE, comm);
    else if (strcmp(call, "Alltoall") == 0)
        MPI_Alltoall(out, bytes, MPI_BYTE, in, bytes, MPI_BYTE, comm);
    else
        MPI_Barrier(comm);
}

int main(int argc, char **argv)
{
    char call[32];
    int a, b, bytes;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    comms[0] = MPI_COMM_WORLD;
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &comms[1]);
    out = calloc((size_t)size, MOST);
    in = calloc((size_t)size, MOST);
    FILE *list = fopen(argv[1], "r");
    while (list && fscanf(list, "%31s %d %d %d", call, &a, &b, &bytes) == 4) {
        if (strstr("Send Ssend Isend Start Sendrecv", call))
            message(call, a, b, bytes);
        else
            collective(call, comms[a], b, bytes);
    }
    MPI_Finalize();
    return list == NULL;
}
