/* All measurements of one run. */
#ifndef COLLECTIVES_RUN_H
#define COLLECTIVES_RUN_H

#include <mpi.h>
#include <stdbool.h>

#include "config.h"
#include "fail.h"
#include "measure.h"
#include "selection.h"

typedef struct Crowd {
    int ranks, processors; /* Number of ranks, and number of processors, on the node with the fewest
                            * processors per rank. */
    int nodes;
    bool oversubscribed;
} Crowd;

/* Counts, on every node, the ranks and the processors on which they may run. Collective. */
Crowd crowd_of(MPI_Comm comm);

/* Control variables of the MPI library that are in effect in this process, read by the MPI tools
 * interface. */

enum { VARIABLE_TEXT = 128, VARIABLES_MAX = 128 };

typedef struct Variable {
    char name[VARIABLE_TEXT], value[VARIABLE_TEXT];
} Variable;

/* Reads the variables that decide between algorithms and protocols, at most `room`; returns their number.
 * Must be called between MPI_Init and MPI_Finalize. */
int library_variables(Variable *list, int room);

typedef struct Run {
    const Config *config;
    MPI_Comm comm;
    int rank, ranks;
    Crowd crowd;
    Selection selection;
    int variable_count;
    Variable variables[VARIABLES_MAX];
    long long eager;     /* Size in bytes of the largest message whose send does not wait for its receiver
                          * (eager_observed()); EAGER_NONE if there is none, 0 if it was not measured. */
    int count, capacity; /* Number of latencies, and room for them. */
    Latency *latencies;
    double total_seconds; /* Seconds of all measurements. */
} Run;

/* Type of a function that every rank calls after each measured latency. */
typedef void (*Told)(const Run *run, const Latency *latency);

/* Measures each chosen operation at each size, or the ping-pong. Collective. */
void run_all(Run *run, Told tell);

/* Returns the number of wrong elements in all measurements. */
long long run_errors(const Run *run);

typedef struct Manner {
    const char *name;
    /* True if each receive is posted before the peer sends; else it is posted after the message has arrived.
     */
    bool posted;
} Manner;

enum { MANNER_COUNT = 2 };
extern const Manner MANNERS[MANNER_COUNT];

/* Measures the latency of messages between the two ranks of `comm`. Average, minimum, maximum and percentiles
 * are over the iterations on rank 0. Collective. */
Latency pingpong(const Manner *manner, long long bytes, int iterations, MPI_Comm comm);

/* The output of a run, for people and for scripts that read the OSU micro-benchmarks, and its result
 * JSON. */

void report_header(const Run *run);

/* Prints a latency as one row, after a header if the previous row had another operation. */
void report_latency(const Run *run, const Latency *latency);

void report_footer(const Run *run);

/* Collective. Prints the results and writes the JSON. */
void report_json(const Run *run, Trouble *trouble);

enum { EAGER_NONE = -1 };

/* Returns the size of the largest message, up to `most` bytes, whose send completes before its receive is
 * posted; EAGER_NONE if not even a send of one byte does. Uses bisection, between the two ranks of `comm`.
 * Collective. */
long long eager_observed(long long most, MPI_Comm comm);

#endif
