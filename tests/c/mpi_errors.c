/* Makes calls that fail and return an error code, and states the expected counts, computed by hand. A failed
 * call moves nothing; requests that it completed nevertheless are counted; a failed request is forgotten, so
 * that a later request with the same handle is not confused with it. */
#include <mpi.h>

#include "mpi_expect.h"

enum { TURNS = 5, ROOM = 64, LARGE = 300000 };

static char in[6][ROOM], out[200], large[3][LARGE];

static void say(int to_rank, int bytes, int tag)
{
    MPI_Send(out, bytes, MPI_CHAR, to_rank, tag, MPI_COMM_WORLD);
    expect("Send", 1, bytes, 0, 1), to(to_rank, bytes);
}

static void together(void)
{
    MPI_Barrier(MPI_COMM_WORLD);
    expect("Barrier", 1, 0, 0, 0);
}

static void post(int tag, char *buffer, MPI_Request *request)
{
    MPI_Irecv(buffer, 10, MPI_CHAR, 0, tag, MPI_COMM_WORLD, request);
    expect("Irecv", 1, 0, 0, 0);
}

/* Sends messages whose requests probably get the handles of the failed requests. The log must count only the
 * messages that are received here. */
static void use_handles_again(void)
{
    int partner = rank ^ 1;
    MPI_Request request[2];
    for (int turn = 0; turn < TURNS; turn++) {
        for (int i = 0; i < 2; i++)
            MPI_Isend(large[i], LARGE, MPI_CHAR, partner, 90 + i, MPI_COMM_WORLD, &request[i]);
        for (int i = 0; i < 2; i++)
            MPI_Recv(large[2], LARGE, MPI_CHAR, partner, 90 + i, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Wait(&request[0], MPI_STATUS_IGNORE);
        MPI_Waitall(1, &request[1], MPI_STATUSES_IGNORE);
        expect("Isend", 2, 2 * LARGE, 0, 2), expect("Recv", 2, 0, 2 * LARGE, 0), expect("Wait", 1, 0, 0, 0);
        expect("Waitall", 1, 0, 0, 0), to(partner, LARGE), to(partner, LARGE), from(partner, LARGE);
        from(partner, LARGE);
    }
}

static void wrong_arguments(void)
{
    int value = 0;
    MPI_Request request;
    MUST(MPI_Send(out, 5, MPI_CHAR, RANKS + 7, 1, MPI_COMM_WORLD) != MPI_SUCCESS);
    MUST(MPI_Isend(out, -5, MPI_CHAR, 0, 1, MPI_COMM_WORLD, &request) != MPI_SUCCESS);
    MUST(MPI_Irecv(in[0], 5, MPI_CHAR, RANKS + 7, 1, MPI_COMM_WORLD, &request) != MPI_SUCCESS);
    MUST(MPI_Send(out, 5, MPI_DATATYPE_NULL, 0, 1, MPI_COMM_WORLD) != MPI_SUCCESS);
    MUST(MPI_Bcast(&value, 1, MPI_INT, RANKS + 3, MPI_COMM_WORLD) != MPI_SUCCESS);
    expect("Send", 2, 0, 0, 0), expect("Isend", 1, 0, 0, 0), expect("Irecv", 1, 0, 0, 0);
    expect("Bcast", 1, 0, 0, 0);
}

/* Receives messages of 30 bytes into room for 10, completed in every way, one at a time. */
static void too_long(void)
{
    enum { WAYS = 8 };
    int index, done, flag = 0, indices[1];
    MPI_Request request;
    MPI_Message message;
    for (int way = 0; rank == 0 && way < WAYS; way++)
        say(1, 30, way);
    if (rank == 1) {
        MUST(MPI_Recv(in[0], 10, MPI_CHAR, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE) != MPI_SUCCESS);
        expect("Recv", 1, 0, 0, 0);
        post(1, in[0], &request);
        MUST(MPI_Wait(&request, MPI_STATUS_IGNORE) != MPI_SUCCESS);
        expect("Wait", 1, 0, 0, 0);
        post(2, in[0], &request);
        MUST(MPI_Waitall(1, &request, MPI_STATUSES_IGNORE) != MPI_SUCCESS);
        expect("Waitall", 1, 0, 0, 0);
        post(3, in[0], &request);
        MUST(MPI_Waitany(1, &request, &index, MPI_STATUS_IGNORE) != MPI_SUCCESS);
        expect("Waitany", 1, 0, 0, 0);
        post(4, in[0], &request);
        MUST(MPI_Waitsome(1, &request, &done, indices, MPI_STATUSES_IGNORE) != MPI_SUCCESS);
        expect("Waitsome", 1, 0, 0, 0);
        post(5, in[0], &request);
        for (int code = MPI_SUCCESS; code == MPI_SUCCESS && !flag;) {
            code = MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
            expect("Test", 1, 0, 0, 0);
        }
        MPI_Mprobe(0, 6, MPI_COMM_WORLD, &message, MPI_STATUS_IGNORE);
        MUST(MPI_Mrecv(in[0], 10, MPI_CHAR, &message, MPI_STATUS_IGNORE) != MPI_SUCCESS);
        MPI_Mprobe(0, 7, MPI_COMM_WORLD, &message, MPI_STATUS_IGNORE);
        MPI_Imrecv(in[0], 10, MPI_CHAR, &message, &request);
        MUST(MPI_Wait(&request, MPI_STATUS_IGNORE) != MPI_SUCCESS);
        expect("Mprobe", 2, 0, 0, 0), expect("Mrecv", 1, 0, 0, 0), expect("Imrecv", 1, 0, 0, 0);
        expect("Wait", 1, 0, 0, 0);
    }
}

/* Receives four messages, one of which is too long; the others arrive. */
static void among_others(void)
{
    static const int bytes[4] = {4, 6, 30, 8};
    MPI_Request request[4];
    MPI_Status status[4];
    for (int way = 0; way < 2; way++) {
        for (int i = 0; i < 4; i++) {
            if (rank == 0)
                say(1, bytes[i], 20 + i);
            else if (rank == 1)
                post(20 + i, in[i], &request[i]);
        }
        together();
        if (rank != 1)
            continue;
        int code = MPI_Waitall(4, request, way == 0 ? status : MPI_STATUSES_IGNORE), more = 0;
        MUST(code != MPI_SUCCESS);
        for (int i = 0; i < 4; i++)
            more += request[i] != MPI_REQUEST_NULL;
        expect("Waitall", 1, 0, 18, 0), from(0, 4), from(0, 6), from(0, 8);
        if (more > 0) {
            MPI_Waitall(4, request, MPI_STATUSES_IGNORE);
            expect("Waitall", 1, 0, 0, 0);
        }
    }
}

int main(int argc, char **argv)
{
    begin(&argc, &argv);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    wrong_arguments();
    together();
    too_long();
    together();
    use_handles_again();
    among_others();
    together();
    use_handles_again();
    expect("Finalize", 1, 0, 0, 0);
    print_expected();
    MPI_Finalize();
    return 0;
}
