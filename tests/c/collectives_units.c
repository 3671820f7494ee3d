/* Tests parts of the workload collectives, on any number of ranks: that one wrong element is found,
 * percentiles, and the parsing of the MPI library's messages. Prints what is wrong and exits 1. */
#include "run.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static int wrong;

static void expect(bool good, const char *what)
{
    if (good)
        return;
    fprintf(stderr, "wrong: %s\n", what);
    wrong = 1;
}

static void check_errors(const Operation *operation, const char *type)
{
    const Element *element = element_named(type);
    Exchange x = exchange_make(operation, element, 1024, MPI_COMM_WORLD);
    int result = x.rank == 0 || !operation->to_root;
    exchange_fill(operation, &x);
    bool own = operation->from_root && !operation->sends_blocks && x.rank == 0;
    expect((exchange_errors(operation, &x) > 0) == (result && !own), "nothing has arrived");
    operation->call(&x);
    expect(exchange_errors(operation, &x) == 0, operation->name);
    if (result) {
        unsigned char *last = (unsigned char *)x.receive + 1023;
        *last ^= 0x40;
        expect(exchange_errors(operation, &x) == 1, "one element is wrong");
    }
    exchange_free(&x);
}

static void check_latency(void)
{
    double seconds[100];
    int rank, ranks;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    for (int i = 0; i < 100; i++)
        seconds[i] = (double)((i * 37) % 100 + 1) * (rank + 1);
    Latency latency = latency_together(seconds, 100, MPI_COMM_WORLD);
    expect(fabs(latency.minimum - 50.5) < 1e-9, "the fastest rank's mean");
    expect(fabs(latency.maximum - 50.5 * ranks) < 1e-9, "the slowest rank's mean");
    expect(fabs(latency.average - 50.5 * (ranks + 1) / 2.0) < 1e-9, "the mean of the means");
    expect(rank != 0 || latency.p50 == 50.0 * ranks, "the 50th of a hundred slowest");
    expect(rank != 0 || latency.p99 == 99.0 * ranks, "the 99th of a hundred slowest");
    latency = latency_apart(seconds, 100, MPI_COMM_WORLD);
    expect(fabs(latency.average - 50.5 * (ranks + 1) / 2.0) < 1e-9, "the same mean of the means");
    expect(latency.p50 == 50.0 * ranks && latency.p99 == 99.0 * ranks, "the slowest rank's percentiles");
    expect(iterations_of(0, 8192) == 1000 && iterations_of(0, 8193) == 100 && iterations_of(7, 1) == 7,
           "iterations");
}

static void check_selection(void)
{
    Selection selection =
        selection_parse("[a:1] coll:base:comm_select: new communicator: MPI_COMM_WORLD (cid 0)\n"
                        "[a:1] coll:base:comm_select: selecting       basic, priority  10, Enabled\n"
                        "[a:1] coll:base:comm_select: selecting         sm, priority   0, Disabled\n"
                        "something else\n"
                        "[a:1] coll:base:comm_select: selecting       tuned, priority  30, Enabled\n"
                        "[a:1] coll:base:comm_select: new communicator: MPI_COMM_SELF (cid 1)\n"
                        "[a:1] coll:base:comm_select: selecting        self, priority  75, Enabled");
    expect(selection.count == 2, "two components are enabled for the world");
    expect(strcmp(selection.list[0].name, "tuned") == 0 && selection.list[0].priority == 30, "tuned first");
    expect(strcmp(selection.list[1].name, "basic") == 0 && selection.list[1].priority == 10, "basic second");
    expect(selection_parse("").count == 0, "no words");
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    for (int i = 0; i < OPERATION_COUNT; i++) {
        if (OPERATIONS[i].empty)
            continue;
        check_errors(&OPERATIONS[i], "char");
        check_errors(&OPERATIONS[i], "double");
    }
    check_latency();
    check_selection();
    MPI_Allreduce(MPI_IN_PLACE, &wrong, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    MPI_Finalize();
    return wrong;
}
