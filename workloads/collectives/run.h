/* All measurements of one run. */
#ifndef COLLECTIVES_RUN_H
#define COLLECTIVES_RUN_H

#include "fail.h"
#include "latency.h"
#include "options.h"

/* Finds out which implementations of the collective operations the MPI library chose, from its own
 * messages.
 *
 * With the parameter coll_base_verbose, Open MPI prints for each new communicator the components that can
 * serve it. These messages are captured from standard error; all other text is passed on. Other MPI libraries
 * print nothing. */

enum { COMPONENTS_MAX = 16, COMPONENT_NAME = 32 };

typedef struct Component {
    char name[COMPONENT_NAME];
    int priority;
} Component;

/* The components that are enabled for MPI_COMM_WORLD, highest priority first; the first one that has an
 * operation performs it. */
typedef struct Selection {
    int count;
    Component list[COMPONENTS_MAX];
} Selection;

/* Parses the selection from the library's messages. */
Selection selection_parse(const char *words);

/* Captures standard error until selection_end(), or the end of the process. Must be called before
 * MPI_Init. */
void selection_begin(void);
Selection selection_end(void);

typedef struct Element {
    const char *name, *title; /* Name in options, and MPI's name. */
    size_t size;              /* Size of an element in bytes. */
} Element;

/* Returns the type "char" or "double"; NULL for another name. */
const Element *element_named(const char *name);

/* Buffers for one operation at one message size. A block is a message of `count` elements. */
typedef struct Exchange {
    MPI_Comm comm;
    int rank, ranks;
    const Element *element;
    MPI_Datatype type;
    int count;
    void *send, *receive;
    int *counts, *places; /* Number of elements of each block, and the element at which it begins, for
                           * operations that need them. */
} Exchange;

typedef struct Operation {
    const char *name; /* MPI's name without MPI_. */
    /* True if the operation has one block for each rank instead of a single block. */
    bool sends_blocks, receives_blocks;
    bool reduces, to_root, from_root;
    bool empty; /* True if the operation has no message. */
    void (*call)(const Exchange *exchange);
} Operation;

extern const Operation OPERATIONS[];
extern const int OPERATION_COUNT;

/* Returns the operation of this name, in upper or lower case; NULL if there is none. */
const Operation *operation_named(const char *name, size_t length);

/* Returns the bytes of both buffers for messages of `size` bytes. */
size_t operation_memory(const Operation *operation, int ranks, size_t size);

/* Allocates buffers for messages of `size` bytes; exchange_free() frees them. */
Exchange exchange_make(const Operation *operation, const Element *element, size_t size, MPI_Comm comm);
void exchange_free(Exchange *exchange);

/* Fills in the data to send, and fills the place of the result with wrong values. */
void exchange_fill(const Operation *operation, const Exchange *exchange);

/* Returns the value of element `k` in the message between two ranks. Neighbouring ranks and neighbouring
 * elements have different values. */
unsigned char pattern(int sender, int receiver, long k);

/* Returns the number of wrong elements in this rank's result. */
long long exchange_errors(const Operation *operation, const Exchange *exchange);

/* Returns the number of calls: `wanted`, or if that is 0, 1000 for messages up to 8192 bytes and 100
 * above. */
int iterations_of(int wanted, long long bytes);

/* Collective. Times the calls; before them it makes a tenth as many untimed calls. An untimed barrier follows
 * each call. */
Latency measure(const Operation *operation, const Element *element, long long bytes, int iterations,
                MPI_Comm comm);

enum { LIMITS_MAX = 16, CHOSEN_MAX = 16 };

typedef struct Config {
    const char *names, *sizes, *datatype, *limit_list, *json;
    int iterations;
    int64_t memory; /* Largest number of bytes that each rank may use for buffers. */
    bool pingpong, oversubscribed, help;
    const Operation *chosen[CHOSEN_MAX];
    int chosen_count;
    int64_t smallest, largest; /* Smallest and largest message in bytes. */
    int64_t limits[LIMITS_MAX];
    int limit_count;
    const Element *element;
} Config;

extern const OptionTable COLLECTIVES_OPTIONS;

/* Parses and checks the options. Ends the program on bad input or --help. Collective: every rank gets the
 * same configuration. */
void config_read(Config *config, int argc, char **argv, MPI_Comm comm);

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
