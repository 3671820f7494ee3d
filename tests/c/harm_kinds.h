/* Helps the programs of tests/harm: each file holds several kinds of programs, chosen by name in the first
 * argument. A kind prints the same in every run. */
#ifndef HARM_KINDS_H
#define HARM_KINDS_H

#include <stdio.h>
#include <string.h>

struct harm_kind {
    const char *name;
    int (*run)(void);
};

/* Runs the kind with this name. Returns its exit code, or 99 if there is none. */
static int run_kind(const struct harm_kind *kinds, size_t count, const char *name)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(kinds[i].name, name) == 0)
            return kinds[i].run();
    return 99;
}

#endif
