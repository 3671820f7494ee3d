/* The output of ior, as LLNL's IOR prints it: text for people and scripts, JSON or CSV. */
#ifndef IOR_PRINT_H
#define IOR_PRINT_H

#include "test.h"

/* An output format; only rank 0 calls its functions. */
typedef struct Format {
    const char *name; /* Value of summaryFormat. */
    void (*begin)(int argc, char **argv, const Settings *settings);
    void (*test)(const Settings *settings, const Team *team, int number);
    Reporter *row;
    void (*test_end)(const Test *test);
    void (*end)(const Test *tests, int count);
} Format;

const Format *format_named(const char *name);

/* The output: standard output, or the file that the option summaryFile names. */
extern FILE *print_out;

/* One line of IOR's option block: its name and its value. */
typedef struct Fact {
    const char *key;
    char value[4096];
} Fact;

enum { FACTS_MAX = 24 };

/* Fills `facts` with the lines of IOR's option block; returns their number. */
int print_facts(const Settings *settings, const Team *team, Fact facts[FACTS_MAX]);

/* Returns the kind of access that a row of results is about: write, read or remove. */
const char *print_access(const Row *row);

/* Fills in the bandwidth in MiB/s and the total seconds of one kind of access, for each repetition. Returns
 * the number of repetitions. */
int print_values(const Test *test, Step step, double *bandwidth, double *seconds);

/* Returns the current time as "Sat Nov 21 10:00:00 2026". */
const char *print_now(void);

typedef struct Typical {
    double least, most, mean, deviation; /* `deviation` is the standard deviation of the population, which
                                          * divides by the number of values. */
    double median, low, high;            /* Median, and the bounds of its 95 % interval; the bounds are NAN if
                                          * there are fewer than six values. */
} Typical;

/* Computes the statistics and sorts `values`. The bounds of the interval are two of the values themselves
 * (order statistics; Conover, Practical Nonparametric Statistics, 3.2). */
Typical typical_of(double *values, int count);

#endif
