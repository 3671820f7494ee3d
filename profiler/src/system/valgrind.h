/* Tells whether the process runs under Valgrind, which prints a warning about each system call that it does
 * not know. */
#ifndef IOLENS_VALGRIND_H
#define IOLENS_VALGRIND_H

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* Valgrind preloads a library of its own. */
static inline bool is_under_valgrind(void)
{
    const char *preload = getenv("LD_PRELOAD");
    return preload && strstr(preload, "/vgpreload_");
}

#endif
