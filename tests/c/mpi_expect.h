/* Writes the counts that a program with 4 ranks expects in its log to a file expected.RANK in the current
 * folder: lines CALL rank function calls bytes_sent bytes_received messages PEER rank peer messages bytes
 * received_messages received_bytes */
#ifndef MPI_EXPECT_H
#define MPI_EXPECT_H

#include <mpi.h>
#include <stdio.h>
#include <string.h>

#define MUST(condition)                                                                                      \
    do {                                                                                                     \
        if (!(condition)) {                                                                                  \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition);                                  \
            MPI_Abort(MPI_COMM_WORLD, 1);                                                                    \
        }                                                                                                    \
    } while (0)

enum { RANKS = 4, FUNCTIONS = 200 };

static struct {
    const char *name;
    long long calls, sent, received, messages;
} expected[FUNCTIONS];
static long long peers[RANKS][4];
static int rank;

static void expect(const char *name, long long calls, long long sent, long long received, long long messages)
{
    int i = 0;
    while (expected[i].name && strcmp(expected[i].name, name) != 0)
        i++;
    MUST(i < FUNCTIONS);
    expected[i].name = name;
    expected[i].calls += calls;
    expected[i].sent += sent;
    expected[i].received += received;
    expected[i].messages += messages;
}

static void to(int peer, long long bytes)
{
    peers[peer][0]++;
    peers[peer][1] += bytes;
}

static void from(int peer, long long bytes)
{
    peers[peer][2]++;
    peers[peer][3] += bytes;
}

/* Calls MPI_Init, and finds out which of the four ranks this is. */
static void begin(int *argc, char ***argv)
{
    int ranks;
    MPI_Init(argc, argv);
    expect("Init", 1, 0, 0, 0);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    MUST(ranks == RANKS);
}

static void print_expected(void)
{
    char name[64];
    snprintf(name, sizeof name, "expected.%d", rank);
    FILE *file = fopen(name, "w");
    MUST(file);
    for (int i = 0; i < FUNCTIONS && expected[i].name; i++)
        fprintf(file, "CALL %d MPI_%s %lld %lld %lld %lld\n", rank, expected[i].name, expected[i].calls,
                expected[i].sent, expected[i].received, expected[i].messages);
    for (int i = 0; i < RANKS; i++)
        if (peers[i][0] + peers[i][2] > 0)
            fprintf(file, "PEER %d %d %lld %lld %lld %lld\n", rank, i, peers[i][0], peers[i][1], peers[i][2],
                    peers[i][3]);
    MUST(fclose(file) == 0);
}

#endif
