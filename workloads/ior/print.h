/* The output of ior in IOR's words: text for people and scripts, JSON or CSV. */
#ifndef IOR_PRINT_H
#define IOR_PRINT_H

#include "test.h"

/* A format of the output; rank 0 alone calls its functions. */
typedef struct Format {
    const char *name; /* of summaryFormat */
    void (*begin)(int argc, char **argv, const Settings *settings);
    void (*test)(const Settings *settings, const Team *team, int number);
    Reporter *row;
    void (*test_end)(const Test *test);
    void (*end)(const Test *tests, int count);
} Format;

const Format *format_named(const char *name);

/* The output: standard output, or the file of summaryFile. */
extern FILE *print_out;

/* "a" of the columns access, type, ordering of IOR's option block. */
typedef struct Fact {
    const char *key;
    char value[4096];
} Fact;

enum { FACTS_MAX = 24 };

/* The lines of the option block; returns their number. */
int print_facts(const Settings *settings, const Team *team, Fact facts[FACTS_MAX]);

/* The access of a row: write, read or remove. */
const char *print_access(const Row *row);

/* Values of one kind of access over the repetitions: bandwidths in MiB/s, then total seconds. */
int print_values(const Test *test, Step step, double *bandwidth, double *seconds);

/* "Sat Nov 21 10:00:00 2026". */
const char *print_now(void);

#endif
