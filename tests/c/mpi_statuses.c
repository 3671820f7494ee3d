/* Prints the fields that the MPI library writes into statuses: each status is filled with a pattern before a
 * call, and printed after it. The lines must be the same with and without the profiler. There is one rank,
 * which sends to itself. */
#include <mpi.h>
#include <stdio.h>
#include <string.h>

enum { POISON = 0x5a, MANY = 40 };

static MPI_Status statuses[MANY];
static MPI_Request requests[MANY];
static int in[MANY], out[MANY], flag, at, done, indices[MANY];

/* Prints the fields of the statuses that the call has changed. */
static void show(const char *call)
{
    MPI_Status untouched;
    memset(&untouched, POISON, sizeof untouched);
    printf("%s:", call);
    for (int i = 0; i < MANY; i++)
        if (memcmp(&statuses[i], &untouched, sizeof untouched) != 0)
            printf(" [%d] %d %d %d", i, statuses[i].MPI_SOURCE, statuses[i].MPI_TAG, statuses[i].MPI_ERROR);
    printf("\n");
    memset(statuses, POISON, sizeof statuses);
}

static void send(int number)
{
    for (int i = 0; i < number; i++)
        MPI_Send(&out[i], 1, MPI_INT, 0, i, MPI_COMM_SELF);
}

static void post(int number)
{
    for (int i = 0; i < MANY; i++)
        requests[i] = MPI_REQUEST_NULL;
    for (int i = 0; i < number; i++)
        MPI_Irecv(&in[i], 1, MPI_INT, 0, i, MPI_COMM_SELF, &requests[i]);
    send(number);
}

static void single(void)
{
    MPI_Message message;
    post(1), MPI_Wait(requests, statuses), show("Wait");
    MPI_Wait(requests, statuses), show("Wait for none");
    for (flag = 0, post(1); !flag;)
        MPI_Test(requests, &flag, statuses);
    show("Test");
    MPI_Test(requests, &flag, statuses), show("Test of none");
    MPI_Request_get_status(requests[0], &flag, statuses), show("Request_get_status of none");
    MPI_Isend(out, 1, MPI_INT, 0, 0, MPI_COMM_SELF, requests);
    MPI_Probe(0, 0, MPI_COMM_SELF, statuses), show("Probe");
    MPI_Iprobe(0, 1, MPI_COMM_SELF, &flag, statuses), show("Iprobe of none");
    MPI_Iprobe(0, 0, MPI_COMM_SELF, &flag, statuses), show("Iprobe");
    MPI_Mprobe(0, 0, MPI_COMM_SELF, &message, statuses), show("Mprobe");
    MPI_Mrecv(in, 1, MPI_INT, &message, statuses), show("Mrecv");
    MPI_Wait(requests, MPI_STATUS_IGNORE), show("ignored");
    MPI_Isend(out, 1, MPI_INT, 0, 0, MPI_COMM_SELF, requests);
    MPI_Recv(in, 1, MPI_INT, 0, 0, MPI_COMM_SELF, statuses), show("Recv");
    MPI_Wait(requests, statuses), show("Wait for a send");
    MPI_Sendrecv(out, 1, MPI_INT, 0, 3, in, 1, MPI_INT, 0, 3, MPI_COMM_SELF, statuses), show("Sendrecv");
    MPI_Recv(in, 1, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_SELF, statuses), show("Recv from nobody");
    MPI_Recv_init(in, 1, MPI_INT, 0, 0, MPI_COMM_SELF, requests);
    MPI_Wait(requests, statuses), show("Wait for what did not start");
    MPI_Start(requests), send(1), MPI_Wait(requests, statuses), show("Wait for a persistent one");
    MPI_Request_free(requests);
}

static void several(int number)
{
    post(number), MPI_Waitall(number, requests, statuses), show("Waitall");
    MPI_Waitall(number, requests, statuses), show("Waitall for none");
    post(number), MPI_Waitall(number, requests, MPI_STATUSES_IGNORE), show("Waitall ignored");
    for (flag = 0, post(number); !flag;)
        MPI_Testall(number, requests, &flag, statuses);
    show("Testall");
    post(number), MPI_Waitany(number, requests, &at, statuses), show("Waitany");
    MPI_Waitall(number, requests, MPI_STATUSES_IGNORE);
    MPI_Waitany(number, requests, &at, statuses), show("Waitany for none");
    for (flag = 0, post(number); !flag;)
        MPI_Testany(number, requests, &at, &flag, statuses);
    show("Testany");
    MPI_Waitall(number, requests, MPI_STATUSES_IGNORE);
    post(number), MPI_Waitsome(number, requests, &done, indices, statuses), show("Waitsome");
    MPI_Waitall(number, requests, MPI_STATUSES_IGNORE);
    for (done = 0, post(number); done == 0;)
        MPI_Testsome(number, requests, &done, indices, statuses);
    show("Testsome");
    MPI_Waitall(number, requests, MPI_STATUSES_IGNORE);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    memset(statuses, POISON, sizeof statuses);
    single();
    several(3);
    several(MANY);
    MPI_Finalize();
    return 0;
}
